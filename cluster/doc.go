// Package cluster connects the processes of a run: the ranks that share the rows of one
// embedding (par.Ranks).
//
// [Local] runs ranks as goroutines of one process, for tests and for measurements of what
// ranks cost. With the build tag mpi, [Open] connects the processes that mpirun has
// started.
package cluster
