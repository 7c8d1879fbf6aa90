package supervised

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Rows are held out of classes that are there to be found, and are none of those searched.
func TestHeldSplit(t *testing.T) {
	labels := make([]int32, 20_000)
	var labelled []int
	for i := range labels {
		if labels[i] = int32(i % 4000); i%7 == 0 {
			labels[i] = -1
			continue
		}
		labelled = append(labelled, i)
	}
	s := heldSplit(labels, labelled, 5000, rand.New(rand.NewPCG(1, 1)))
	if len(s.train) > 5000 || len(s.train) < 4000 || len(s.held) < 500 {
		t.Fatalf("%d rows held out of %d", len(s.held), len(s.train))
	}
	there := make(map[int32]bool)
	for _, i := range s.train {
		there[labels[i]] = true
	}
	for _, i := range s.held {
		if labels[i] < 0 || !there[labels[i]] || slices.Contains(s.train, i) {
			t.Fatalf("row %d of class %d is held out", i, labels[i])
		}
	}
}
