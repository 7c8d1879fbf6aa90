package simd

import (
	"slices"
	"testing"
	"time"
)

// Loads are taken where they save a tenth, and always on the word of a clock that stands
// still.
func TestGathersPay(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		gather, load time.Duration
		want         bool
	}{
		{1 * us, 3 * us, true},
		{3 * us, 1 * us, false},
		{90 * us, 100 * us, true},
		{100 * us, 100 * us, true},
		{110 * us, 100 * us, true},
		{110*us + 1, 100 * us, false},
		{200 * us, 100 * us, false},
		{0, 0, false},
		{0, 3 * us, false},
		{3 * us, 0, false},
		{-1, 3 * us, false},
	} {
		if got := gathersPay(c.gather, c.load); got != c.want {
			t.Errorf("gathers %v, loads %v: %v", c.gather, c.load, got)
		}
	}
}

// Loads that win by little are looked at again; those that win by much, and a clock that
// stands still, decide at once.
func TestClearlyLoads(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		gather, load time.Duration
		want         bool
	}{{3 * us, 1 * us, true}, {2*us + 1, 1 * us, true}, {2 * us, 1 * us, false}, {12 * us, 10 * us, false}, {1 * us, 2 * us, false}, {0, 0, true}, {0, 3 * us, true}} {
		if got := clearlyLoads(c.gather, c.load); got != c.want {
			t.Errorf("gathers %v, loads %v: %v", c.gather, c.load, got)
		}
	}
}

// What PM_SIMD asks for is done without a measurement.
func TestGathersChosen(t *testing.T) {
	for _, found := range []bool{false, true} {
		for _, c := range []struct {
			wish         wish
			want, probes bool
		}{{noWish, found, true}, {wishOff, false, false}, {wishOn, true, false}} {
			probes := false
			got := setting{gather: c.wish}.gathersChosen(func() bool { probes = true; return found })
			if got != c.want || probes != c.probes {
				t.Errorf("wish %v, found %v: %v, measured %v", c.wish, found, got, probes)
			}
		}
	}
}

// The probe multiplies: rows of all lengths, whole, at every level and choice alike.
func TestProbeMultiplies(t *testing.T) {
	var want []float32
	for _, s := range All() {
		p := newProbe()
		for i := range p.x {
			p.x[i] = float32(i%7) + 0.5
		}
		p.times(s, s)
		if int(p.ptr[probeRows]) != len(p.ind) || slices.Contains(p.dst, 0) {
			t.Fatalf("%v: %d of %d entries, sums %v", s, p.ptr[probeRows], len(p.ind), p.dst)
		}
		if want == nil {
			want = p.dst
		}
		if !slices.Equal(p.dst, want) {
			t.Errorf("%v has other sums", s)
		}
	}
}

// At has the choice that was asked for or measured, and says so.
func TestChoiceInUse(t *testing.T) {
	s := At(Best())
	if got, want := s.Choices() != "", Best().gathers(); got != want {
		t.Errorf("choices %q at %v", s.Choices(), Best())
	}
	if s.Choices() == "" {
		if Measured() {
			t.Error("measured where there is nothing to choose")
		}
		return
	}
	if want := asked().gathersChosen(probed); s.gather != want {
		t.Errorf("%v, want gathers %v", s, want)
	}
	if Measured() != (asked().gather == noWish) {
		t.Errorf("measured %v, wish %v", Measured(), asked().gather)
	}
}
