package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Loads are taken where gathers take over 1.15 times as long, and whenever the clock
// stands still.
func TestGathersPay(t *testing.T) {
	const us = time.Microsecond
	for _, c := range []struct {
		gather, load time.Duration
		want         bool
	}{
		{1 * us, 3 * us, true},
		{3 * us, 1 * us, false},
		{100 * us, 100 * us, true},
		{115 * us, 100 * us, true},
		{115*us + 1, 100 * us, false},
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

// A form that wins four rounds of five wins early, in every process. Where the forms are
// close neither leads clearly, and every process takes gathers when the time is over.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		share          float64 // of rounds in which gathers pay
		gathers, clear bool
		most           int // rounds
	}{
		{1, true, true, probeLook}, {0, false, true, probeLook},
		{0.85, true, true, 2 * probeLook}, {0.15, false, true, 2 * probeLook},
		{0.65, true, true, probeRounds}, {0.35, false, true, probeRounds},
		{0.5, true, false, probeRounds},
	} {
		for process := range uint64(200) {
			random, n := rand.New(rand.NewPCG(process, 1)), 0
			gathers, clear := decide(func() bool { n++; return random.Float64() < c.share }, func() bool { return true })
			if gathers != c.gathers || clear != c.clear || n > c.most {
				t.Fatalf("gathers pay in %g of the rounds: process %d finds %v, clear %v, after %d", c.share, process, gathers, clear, n)
			}
		}
	}
	// The time limit counts.
	n := 0
	if gathers, clear := decide(func() bool { n++; return n%2 == 0 }, func() bool { return n < 3*probeLook }); !gathers || clear || n != 3*probeLook {
		t.Errorf("%v, %v after %d rounds", gathers, clear, n)
	}
}

// A kept choice takes precedence over a measurement; an unknown choice does not.
func TestKeptOrMeasured(t *testing.T) {
	for _, found := range []bool{false, true} {
		for _, c := range []struct {
			keep         keep
			want         bool
			measurements int
		}{
			{nil, found, 1},
			{func(func() (string, bool)) string { return "gather=on" }, true, 0},
			{func(func() (string, bool)) string { return "gather=off" }, false, 0},
			{func(func() (string, bool)) string { return "" }, found, 1},
			{func(func() (string, bool)) string { return "avx512,gather=on" }, found, 1},
			{func(measure func() (string, bool)) string {
				choices, clear := measure()
				if choices != gatherChoice(found) || !clear {
					t.Errorf("%q, clear %v", choices, clear)
				}
				return choices
			}, found, 1},
		} {
			measurements := 0
			var k *keep
			if c.keep != nil {
				k = &c.keep
			}
			got := keptOrMeasured(k, func() (bool, bool) { measurements++; return found, true })
			if got != c.want || measurements != c.measurements {
				t.Errorf("found %v: %v after %d measurements", found, got, measurements)
			}
		}
	}
}

// A choice in PM_SIMD needs no measurement.
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

// The probe multiplies rows of all lengths, whole, with the same result at every level and choice.
func TestProbeMultiplies(t *testing.T) {
	var want []float32
	for _, s := range All() {
		p := newProbe()
		for i := range p.x {
			p.x[i] = float32(i%7) + 0.5
		}
		p.round(s, s)
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

// At has the requested or measured choice, and says so.
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
