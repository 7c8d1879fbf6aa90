//go:build !(mpi && cgo)

package cluster

import "os"

// Open connects this process with the others that a launcher has started. This program was
// built without MPI: Open returns a world of one rank, or ErrLauncher if the environment says
// that there are others.
func Open() (*World, error) {
	if l := readLaunch(os.Getenv); l.several() {
		return nil, l.refuse(errNoMPI)
	}
	return &World{}, nil
}
