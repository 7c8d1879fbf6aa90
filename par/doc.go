// Package par runs numbered pieces of work on a fixed set of goroutines.
//
//	workers := par.New(0) // GOMAXPROCS
//	defer workers.Close()
//	err := workers.Do(ctx, (n+1023)/1024, par.Func(func(_, block int) {
//		lo, hi := 1024*block, min(1024*(block+1), n)
//		... // rows lo to hi-1
//	}))
//
// One rule keeps results reproducible: work is split into pieces that depend only on the
// data, every piece writes only its own part of the result, and partial sums are added
// in the order of the pieces. Which worker takes which piece then cannot change a bit of
// the result.
//
// A [Workers] owns its goroutines from [New] to [Workers.Close]. The nil Workers is valid
// and runs everything in the caller, so packages below the engine take a *Workers and
// need no second code path. [Workers.Lend] hands Workers to a borrower that must not stop
// them: an Engine lends its own.
package par
