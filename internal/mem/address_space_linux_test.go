// The race detector maps additional memory, which counts against the limit.

//go:build !race

package mem_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// limited is the environment variable that says what the test binary does under a limit.
const limited = "PM_TEST_LIMITED"

// room is what the limit leaves in addition to the memory already mapped.
const room = 192 << 20

// Under a limit of the address space an embedding that does not fit is refused, one that
// fits is computed, and a process that allocates the memory anyway is killed.
func TestAddressSpaceLimit(t *testing.T) {
	if what := os.Getenv(limited); what != "" {
		underLimit(t, what)
		return
	}
	for what, want := range map[string]string{"refuse": "", "repeat": "", "take": "out of memory"} {
		out, err := childtest.Again(t, limited+"="+what, "GOTRACEBACK=none")
		if (err != nil) != (want != "") || !strings.Contains(out, want) {
			t.Errorf("%s: %v: %s", what, err, out)
		}
	}
}

// underLimit sets the limit of this process and does one of three things.
func underLimit(t *testing.T, what string) {
	var pages uint64
	statm, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(statm), &pages)
	}
	if err != nil {
		t.Fatal(err)
	}
	limit := pages*uint64(os.Getpagesize()) + room
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	if left := mem.Available(); left <= 0 || left > room+64<<20 { // and unused memory of the heap
		t.Fatalf("%d bytes are left of %d", left, room)
	}
	switch what {
	case "take":
		held := make([]byte, 3*room)
		t.Fatalf("a limit that limits nothing: %d bytes", len(held))
	case "refuse":
		embed(t, 2000, 3*room/2000/20, kernel.ErrMemory)
		embed(t, 2000, 2, nil)
	case "repeat": // memory freed by earlier calls can be reused
		for range 6 {
			embed(t, 2000, room/4/2000/20, nil)
			runtime.GC()
		}
	}
}

// embed embeds points of the plane into a number of columns.
func embed(t *testing.T, n, columns int, want error) {
	e, err := privatemail.New()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	x := blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
	for i := range x.Data {
		x.Data[i] = float32(i*i%997) / 997
	}
	_, err = e.Embed(t.Context(), x, nil, &privatemail.Settings{Graph: privatemail.Graph{MeanNeighbours: 10}, Dim: columns, Steps: 1})
	if !errors.Is(err, want) {
		t.Fatalf("%d columns: %v, want %v", columns, err, want)
	}
}
