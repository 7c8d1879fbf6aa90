// Package par runs numbered pieces of work on a fixed set of goroutines.
//
// The rule that keeps results reproducible lives here in one sentence: work is
// cut into pieces that depend on the data alone, every piece writes only what
// it owns, and partial sums are added in the order of the pieces. Which worker
// takes which piece then cannot change a bit of the result.
//
// A [Workers] owns its goroutines from [New] to [Workers.Close]. The nil Workers is valid
// and runs everything in the caller, so packages below the engine take a *Workers
// and need no second code path.
package par
