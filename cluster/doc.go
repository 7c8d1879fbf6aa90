// Package cluster connects the processes of a run: the ranks that share the rows of one
// embedding (par.Ranks).
//
// [Local] runs ranks as goroutines of one process, for tests and for measurements of what
// ranks cost. [Open] connects the processes that a launcher such as mpirun or srun has
// started. That needs MPI, which is C, so it needs a build tag and the compiler of the MPI
// that will run the program:
//
//	CC=mpicc go build -tags mpi ./cmd/privatemail
//	mpirun -n 4 ./privatemail embed ...
//
// A program without the tag has no cgo. It runs alone, and Open refuses where a launcher has
// started several processes of it. A program with the tag that no launcher has started runs
// alone, too, and never calls MPI.
//
// # Threads
//
// One goroutine, locked to its thread, makes all calls of MPI (MPI_THREAD_FUNNELED); others
// send it what is to be done. It looks after transfers while workers compute, and mostly
// sleeps meanwhile.
//
// # Lost ranks
//
// Every rank sends the next one a message every two seconds, whatever it computes. A rank that
// hears nothing for 20 seconds ([WithSilence]) prints a [LostError] and ends the processes of
// all ranks (MPI_Abort). So a machine that hangs ends the run, and so does one whose launcher
// has not noticed its end. Time in which a whole run was suspended does not count.
//
// The message says which calls the rank has made. Ranks that make different calls would wait
// for each other for ever, and their messages go on: they print that, and end the processes
// in the same way.
//
// # The end
//
// Every rank calls [World.End] once, with its error. Rank 0 prints the errors of all, and
// all processes exit with the same code. Where other ranks are stuck in a call that the
// failed rank will not make, End prints and calls MPI_Abort.
package cluster
