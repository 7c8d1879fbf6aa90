package supervised_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// One row as far off as float32 allows is named where a recipe fails because of it, and a
// recipe that is chosen works.
func TestFitOfOneRowFarOff(t *testing.T) {
	x, labels := labelledRows(120, 6, 51)
	rows := single(x)
	for j := range 6 {
		rows.Data[9*6+j] = math.MaxFloat32
	}
	e := newEngine(t)
	_, err := supervised.Fit(t.Context(), e, rows, labels, fixed("classic"))
	if !errors.Is(err, kernel.ErrBandwidth) || !strings.Contains(err.Error(), "row 10 is so far from all others") {
		t.Errorf("classic: %v", err)
	}
	if _, err := supervised.Fit(t.Context(), e, rows, labels, nil); err != nil {
		t.Errorf("auto: %v", err)
	}
	// Equal rows are nobody's fault.
	clear(rows.Data)
	_, err = supervised.Fit(t.Context(), e, rows, labels, fixed("raw,steps=1"))
	if !errors.Is(err, kernel.ErrBandwidth) || strings.Contains(err.Error(), "so far from") {
		t.Errorf("equal rows: %v", err)
	}
}
