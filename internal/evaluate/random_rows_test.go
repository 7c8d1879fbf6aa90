package evaluate

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"testing"
)

// The expected recall of random rows is the share of all draws, counted one by one, that
// have a row of the query's class.
func TestRandomRecall(t *testing.T) {
	gallery := []int32{0, 0, 0, 1, 1, 2, 0, -1, 1, 0, 0}
	queries := []int32{0, 1, 2, 7, 1}
	for _, k := range []int{1, 2, 8, 11, 15} {
		draws, hits := 0, 0
		for set := range uint(1) << len(gallery) {
			if bits.OnesCount(set) != min(k, len(gallery)) {
				continue
			}
			draws++
			for _, class := range queries {
				if drawn := func(i int) bool { return set>>i&1 == 1 && gallery[i] == class }; slices.ContainsFunc(upTo(len(gallery)), drawn) {
					hits++
				}
			}
		}
		want := float64(hits) / float64(draws*len(queries))
		if got := randomRecall(queries, gallery, k); math.Abs(got-want) > 1e-12 {
			t.Errorf("k = %d: %g, counted %g", k, got, want)
		}
	}
}

// Every record with figures says what random rows find, for the queries it asked.
func TestRecordsHaveRandomRows(t *testing.T) {
	d := toyData(t)
	scored := map[Metric]float64{RecallAt8: 0.5}
	mode := Mode{Name: "m", Run: func(context.Context, *Task) (*Answer, error) { return &Answer{Scored: scored}, nil }}
	cells, err := Grid{Data: []*Data{d}, Modes: []Mode{mode}, Seeds: []uint64{1}, Queries: 7}.Cells()
	if err != nil {
		t.Fatal(err)
	}
	records, err := (&Sweep{Data: []*Data{d}, Modes: []Mode{mode}}).Run(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewProblem(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := records[0].Figures
	if want := randomRecall(p.queryLabels[:7], p.GalleryLabels, 8); len(f) != 3 || f[RandomRecall8] != want || f[RandomRecall1] >= want || f[RandomRecall1] <= 0 {
		t.Errorf("%v", f)
	}
	if len(scored) != 1 {
		t.Error("the figures of the mode were written to")
	}
}
