//go:build !(mpi && cgo)

package cluster

import (
	"errors"
	"strings"
	"testing"
)

func TestOpenWithoutMPI(t *testing.T) {
	t.Setenv("PMI_SIZE", "")
	t.Setenv("OMPI_COMM_WORLD_SIZE", "1")
	w, err := Open()
	if err != nil || w.Ranks() != nil {
		t.Errorf("%v, %v", w, err)
	}
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	if w, err = Open(); w != nil || !errors.Is(err, ErrLauncher) || !strings.Contains(err.Error(), "OMPI_COMM_WORLD_SIZE=2") {
		t.Errorf("%v, %v", w, err)
	}
}
