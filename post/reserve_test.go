package post_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/post"
)

// With a buffer the points are the same, in float32; a buffer that does not fit is
// refused before memory is asked for.
func TestContinueInto(t *testing.T) {
	const n = 50
	r := made(t, n, release.ModeDropped)
	want, err := post.Continue(t.Context(), r, nil, &post.Settings{MeanNeighbours: 8})
	if err != nil {
		t.Fatal(err)
	}
	into := blas32.General{Rows: n, Cols: 2, Stride: 3, Data: make([]float32, 3*n)}
	got, err := post.Continue(t.Context(), r, nil, &post.Settings{MeanNeighbours: 8, Into: into})
	if err != nil || got.Points != nil {
		t.Fatalf("%v, %v", got, err)
	}
	for i := range n {
		for c := range 2 {
			if float64(into.Data[3*i+c]) != want.Points.At(i, c) || into.Data[3*i+2] != 0 {
				t.Fatalf("row %d differs", i)
			}
		}
	}
	into.Rows--
	s := &post.Settings{MeanNeighbours: 8, Into: into, Reserve: func(int64) bool { t.Error("memory was asked for"); return true }}
	if _, err := post.Continue(t.Context(), r, nil, s); !errors.Is(err, kernel.ErrShape) || !strings.Contains(err.Error(), "into: ") {
		t.Error(err)
	}
}

// Reserve is asked for the points first, 40 bytes an entry and 32 with a buffer, and then
// for the graph. A refusal is kernel.ErrMemory.
func TestContinueReserves(t *testing.T) {
	const n = 50
	r := made(t, n, release.ModeDropped)
	var graph []int64 // what is asked for in addition to the points
	for _, c := range []struct {
		into blas32.General
		own  int64
	}{{blas32.General{}, 40 * 2 * n}, {blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}, 32 * 2 * n}} {
		var asked []int64
		s := &post.Settings{MeanNeighbours: 8, Operator: "csr", Into: c.into, Reserve: func(bytes int64) bool { asked = append(asked, bytes); return true }}
		if _, err := post.Continue(t.Context(), r, nil, s); err != nil {
			t.Fatal(err)
		}
		if len(asked) < 2 || asked[0] != c.own {
			t.Fatalf("asked for %d, want %d first", asked, c.own)
		}
		var beside []int64
		for _, bytes := range asked[1:] {
			beside = append(beside, bytes-c.own)
		}
		if graph == nil {
			graph = beside
		}
		if !slices.Equal(beside, graph) {
			t.Errorf("asked for %d in addition to the points, and before for %d", beside, graph)
		}
		for refuse := range asked {
			count := 0
			s.Reserve = func(int64) bool { count++; return count <= refuse }
			if _, err := post.Continue(t.Context(), r, nil, s); !errors.Is(err, kernel.ErrMemory) {
				t.Errorf("request %d refused: %v", refuse, err)
			}
		}
	}
}
