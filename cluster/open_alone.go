//go:build !(mpi && cgo)

package cluster

import (
	"os"

	"github.com/seed-64e14a55/privatemail/internal/errkind"
)

// errNoMPI is the ErrLauncher of a program without MPI.
var errNoMPI = errkind.Of(ErrLauncher, "this program was built without MPI; build it with: CC=mpicc go build -tags mpi")

// Open connects this process with the others that a launcher has started. This program was
// built without MPI: Open returns a world of one rank, or ErrLauncher if the environment says
// that there are others.
func Open() (*World, error) {
	if l := readLaunch(os.Getenv); l.several() {
		return nil, l.refuse(errNoMPI)
	}
	return &World{}, nil
}
