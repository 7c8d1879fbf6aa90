// Package cluster connects the processes of a run: the ranks that share the rows of one
// embedding (par.Ranks).
//
// [Local] runs ranks as goroutines of one process, for tests and to measure the cost of
// ranks. [Open] connects the processes that a launcher such as mpirun or srun has started.
// That needs MPI, which is C, so it needs a build tag and the compiler of the MPI that
// will run the program:
//
//	CC=mpicc go build -tags mpi ./cmd/privatemail
//	mpirun -n 4 ./privatemail embed ...
//
// A program without the tag has no cgo. It runs alone, and Open returns an error where a
// launcher has started several processes of it. A program with the tag that no launcher has
// started also runs alone, and never calls MPI.
//
// # Threads
//
// One goroutine, locked to its thread, makes all calls of MPI (MPI_THREAD_FUNNELED); others
// send it their jobs. It attends to transfers while workers compute, and mostly sleeps in
// between.
//
// # Lost ranks
//
// Every rank sends the next one a message every two seconds, also while it computes. A rank
// that hears nothing for 20 seconds prints which one is lost and ends the
// processes of all ranks (MPI_Abort). So the run ends when a machine hangs, and when a machine
// dies and the launcher does not notice. Time in which a whole run was suspended does not
// count.
//
// The message says which calls the rank has made. Ranks that make different calls would wait
// for each other for ever while their messages continue. They print an error instead, and
// end the processes in the same way.
//
// # End of a run
//
// Every rank calls [World.End] once, with its error. Rank 0 prints the errors of all, and
// all processes exit with the same code. Where other ranks are stuck in a call that the
// failed rank will not make, End prints and calls MPI_Abort.
package cluster
