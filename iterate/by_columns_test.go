package iterate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

func TestColumnsFrom(t *testing.T) {
	for k := 1; k < 100; k++ {
		most := (&Settings{Overwrite: true}).ColumnsAtOnce(k)
		for lo := 0; lo < k; {
			count := columnsFrom(lo, k)
			if count < min(k, 3) || count > most || most > atOnce+2 || lo+count > k {
				t.Fatalf("%d of %d columns from %d on, at most %d", count, k, lo, most)
			}
			lo += count
		}
	}
}

// A run that overwrites gives the same bits as one that does not, with equal points and
// labels, for any number of workers, into its start or elsewhere.
func TestOverwriteGivesTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 3))
	p := randomMatrix(rng, 700, 3)
	for i := range 60 {
		copy(row(p, 2*i), row(p, 0))
	}
	names := make([]int32, p.Rows)
	for i := range names {
		names[i] = int32(i%7) - 1
	}
	labels, err := kernel.NewLabels(names, kernel.BalancedTable(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 3} {
		crew := par.New(workers)
		defer crew.Close()
		for _, operator := range []string{"csr", "pairs"} {
			op, err := kernel.Build(t.Context(), p, kernel.Sigma(0.2), &kernel.Options{Operator: operator, CutoffRadius: 0.5, Workers: crew})
			if err != nil {
				t.Fatal(err)
			}
			defer op.Close()
			for _, k := range []int{1, 3, 8, 9, 17, 20, 24} {
				start := randomMatrix(rng, p.Rows, k)
				step := kernel.Step{Form: kernel.Attract, Labels: labels, Coefficient: 3}
				t.Run(fmt.Sprintf("%s %d workers %d columns", operator, workers, k), func(t *testing.T) { sameBits(t, op, start, step) })
			}
		}
	}
}

func sameBits(t *testing.T, op kernel.Operator, start blas32.General, step kernel.Step) {
	n, k := start.Rows, start.Cols
	want := blas32.General{Rows: n, Cols: k, Stride: k, Data: slices.Clone(start.Data)}
	whole, err := Run(t.Context(), op, want, step, &Settings{Steps: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []Record
	done, all := 0, 3*max(1, (k+5)/8) // one or two columns go with others
	taken := func(now, total int) {
		if done++; now != done || total != all {
			t.Errorf("%d of %d steps are done, want %d of %d", now, total, done, all)
		}
	}
	into := blas32.General{Rows: n, Cols: k, Stride: k + 2, Data: make([]float32, (k+2)*n)}
	before := slices.Clone(start.Data)
	ws := new(Workspace)
	parts, err := Run(t.Context(), op, start, step, &Settings{Steps: 3, Into: into, Overwrite: true, Progress: func(r Record) { told = append(told, r) }, Taken: taken}, ws)
	if err != nil {
		t.Fatal(err)
	}
	if done != all {
		t.Errorf("told of %d steps, want %d", done, all)
	}
	if !slices.Equal(before, start.Data) {
		t.Error("the start has changed")
	}
	if most := n * (&Settings{Overwrite: true}).ColumnsAtOnce(k); cap(ws.x.Data) > most || cap(ws.next.Data) > most {
		t.Errorf("copies of %d and %d numbers, want %d at most", cap(ws.x.Data), cap(ws.next.Data), most)
	}
	if _, err := Run(t.Context(), op, start, step, &Settings{Steps: 3, Overwrite: true}, ws); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if !slices.Equal(row(into, i), row(want, i)) || !slices.Equal(row(start, i), row(want, i)) {
			t.Fatalf("row %d: other bits", i)
		}
	}
	if !slices.Equal(told, parts.Trace) || len(told) != len(whole.Trace) || parts.Status != whole.Status {
		t.Fatalf("told of %d steps, traced %d, want %d", len(told), len(parts.Trace), len(whole.Trace))
	}
	for i, r := range whole.Trace {
		got := parts.Trace[i]
		if got.Step != r.Step || !near(got.Objective, r.Objective) || !near(got.Scale, r.Scale) || !near(got.Change, r.Change) {
			t.Errorf("%+v, want %+v", got, r)
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Abs(b) }

func TestOverwriteRefuses(t *testing.T) {
	for name, s := range map[string]Settings{
		"tolerance": {Overwrite: true, Tolerance: 1e-3},
		"normalize": {Overwrite: true, Normalize: Centred},
	} {
		if err := s.Check(); !errors.Is(err, kernel.ErrOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
	x := newMatrix(4, 20)
	x.Data[79] = float32(math.NaN())
	before := slices.Clone(x.Data[:79])
	if _, err := Run(t.Context(), &slow{n: 4}, x, kernel.Step{}, &Settings{Overwrite: true}, nil); !errors.Is(err, kernel.ErrNonFinite) || !slices.Equal(before, x.Data[:79]) {
		t.Errorf("a start that is not finite in its last column: %v, start %v", err, x.Data)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, &slow{n: 4}, newMatrix(4, 20), kernel.Step{}, &Settings{Overwrite: true}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
