package suites

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/sparse"
)

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
