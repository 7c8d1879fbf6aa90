package suites

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// The same holds for the file of -out.
func TestWriteOutSaysBothErrors(t *testing.T) {
	broken := errors.New("the case broke")
	f := &Options{Out: filepath.Join(t.TempDir(), "none", "out.txt")}
	records := levelRecords()
	e := &cli.Env{Program: "pmbench", Verb: "run", Stderr: new(bytes.Buffer)}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.writeOut(t.Context(), e, records[0].Machine, records, broken); !errors.Is(err, broken) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := f.writeOut(cancelled, e, records[0].Machine, records, context.Canceled); errors.Is(err, context.Canceled) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	// A recording that could not be kept before is not forgotten.
	if err := f.writeOut(cancelled, e, records[0].Machine, records, broken); !errors.Is(err, broken) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// The model of a product is what its layout reads.
func TestLayoutBytes(t *testing.T) {
	const n, k = 3000, 2
	l := suitesLab(t)
	last := int64(math.MaxInt64)
	for _, layout := range spmmLayouts("curve") {
		a, err := GraphIn(t.Context(), l, "curve", n, layout)
		if err != nil {
			t.Fatal(err)
		}
		got := layoutBytes(a, k)
		if want := spmmBytes(n, int64(a.NNZ()), k); layout == sparse.Plain && got != want {
			t.Errorf("%v: %d bytes, want %d", layout, got, want)
		}
		if got >= last {
			t.Errorf("%v: %d bytes, no fewer than the layout before it", layout, got)
		}
		last = got
	}
}

// The graph under test is symmetric, in curve order and of the right degree,
// and its neighbours are those of a plain search.
func TestCurveGraph(t *testing.T) {
	const n = 3000
	a, err := curveGraph(n)
	if err != nil {
		t.Fatal(err)
	}
	if !a.IsSymmetric() {
		t.Error("the graph is not symmetric")
	}
	if mean := float64(a.NNZ()) / n; mean < 26 || mean > 33 { // fewer at the border
		t.Errorf("%g neighbours", mean)
	}
	near := 0
	for i := range n {
		ind, _ := a.Row(i, nil)
		for _, j := range ind {
			if d := int(j) - i; -200 < d && d < 200 {
				near++
			}
		}
	}
	if share := float64(near) / float64(a.NNZ()); share < 0.7 {
		t.Errorf("%.2f of the entries are near the diagonal", share)
	}
	b, err := shuffled(a)
	if err != nil || b.NNZ() != a.NNZ() || !b.IsSymmetric() {
		t.Errorf("shuffled: %d entries, %v", b.NNZ(), err)
	}
	for _, v := range []int{0, 1, 5, 1000} {
		if got := deinterleave(interleave(uint32(v))); got != v {
			t.Errorf("%d becomes %d", v, got)
		}
	}
}

// A step is measured many times over, with the sums of the one before.
func TestStepsStayFinite(t *testing.T) {
	sub, err := stepSubject(t.Context(), suitesLab(t), 20_000, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		if err := sub.Run(t.Context()); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
}

// The flags that choose a part are those that leave out cases, or change ranks.
func TestFlagsOfAPart(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&Options{Count: 14, Full: true}).part(1), false},
		{(&Options{Pattern: "k=8"}).part(1), true},
		{(&Options{}).part(2), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}

func TestStepRatios(t *testing.T) {
	all := record.Summarise([]*record.Record{
		{Suite: "step", Case: "op=product/k=2", Seconds: 2}, {Suite: "step", Case: "op=step/k=2", Seconds: 3},
		{Suite: "scale", Case: "op=step/k=2", Seconds: 9}, {Suite: "step", Case: "op=step/k=8", Seconds: 1},
	})
	got := StepRatios(all)
	if len(got) != 1 || got[0] != (StepRatio{"k=2", 1.5}) {
		t.Errorf("%v", got)
	}
}
