package mechanism

import (
	"context"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/audit"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// T-7: releases of two neighbours do not show a larger epsilon than promised, by
// any of several events "at least this far in the direction of the difference".
// For correct noise they include the best event, where the log-ratio of the
// densities is epsilon; for too little noise the others are better. At (1, 0.05)
// a hundred thousand runs a side find noise at 0.9 of its correct size, a
// million find 0.97; each test proves its power on neighbours that are too far
// apart.
func TestThresholdAudit(t *testing.T) {
	const rows, columns, m = 4, 2, 8
	const epsilon, delta, multiplier = 1, 0.05, 1.332778
	runs := pick(100_000, 1_000_000)
	tooFar := 1.25
	if longtest.All() {
		tooFar = 1 / 0.95
	} else if !longtest.Wanted() {
		tooFar = 2
	}
	b := boundNear(t, rows, columns, 0.0132)
	c := calibrate(t, CalibrationSettings{Epsilon: epsilon, Delta: delta, Sensitivity: b})
	events := []float64{0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, epsilon*multiplier*multiplier + 0.5, 2.5}
	for _, direction := range []struct {
		name string
		unit []float64
	}{
		{"one coordinate", []float64{1, 0, 0, 0, 0, 0, 0, 0}},
		{"all coordinates", slices.Repeat([]float64{1 / math.Sqrt(m)}, m)},
	} {
		source := randomness(direction.name)
		here := project(t, c, direction.unit, 0, runs, source)
		// The chance that this is above epsilon by accident is 2e-6.
		shown := func(distance float64) float64 {
			there := project(t, c, direction.unit, distance, runs, source)
			largest := math.Inf(-1)
			for _, e := range events {
				largest = max(largest, audit.Epsilon(beyond(there, e*b.Value()), beyond(here, e*b.Value()), runs, delta, 1e-7))
			}
			return largest
		}
		got := shown(b.Value())
		if got > epsilon {
			t.Errorf("%s: epsilon is at least %.3f", direction.name, got)
		}
		far := shown(tooFar * b.Value())
		if far <= epsilon {
			t.Errorf("%s: neighbours %.3g times too far apart show no more than %.3f", direction.name, tooFar, far)
		}
		t.Logf("%s: epsilon at least %.3f; %.3f at %.3g times the distance", direction.name, got, far, tooFar)
	}
}

// project releases the matrix at a distance in a direction and returns the
// distances of the releases in that direction.
func project(t *testing.T, c Calibration, unit []float64, at float64, runs int, source io.Reader) []float64 {
	t.Helper()
	rows, columns := c.Bound().Size()
	r := request(rows, columns)
	for i, u := range unit {
		r.Displacement.Data[i] = u * at
	}
	along := make([]float64, runs)
	for j := range along {
		out, err := privatize(context.Background(), c, NoLedger, r, nil, source)
		if err != nil {
			t.Fatal(err)
		}
		for i, u := range unit {
			along[j] += u * float64(out.Grid[i]) * out.Step
		}
	}
	return along
}

// beyond counts the numbers above a threshold.
func beyond(x []float64, threshold float64) (n int) {
	for _, v := range x {
		if v > threshold {
			n++
		}
	}
	return n
}

// T-8: the same from histograms, without knowing the best event: summed over
// the bins, the excess of one side over e^epsilon times the other is at most
// delta, up to sampling. Every coordinate of a release is a run, since its
// noise does not depend on the others.
func TestHistogramAudit(t *testing.T) {
	const rows, columns = 500, 500
	releases := 1
	if longtest.All() {
		releases = 8 // two million draws per side
	}
	const epsilon, delta, bins = 1, 0.05, 120
	b := boundNear(t, rows, columns, 0.0132)
	c := calibrate(t, CalibrationSettings{Epsilon: epsilon, Delta: delta, Sensitivity: b})
	source := randomness("histogram")
	histogram := func(at float64) []float64 {
		h := make([]float64, bins)
		for range releases {
			for _, k := range constant(t, c, request(rows, columns), at, source).Grid {
				i := int(math.Floor((float64(k)*c.Step()/b.Value() + 5.5) * bins / 12))
				h[max(0, min(bins-1, i))] += 1 / float64(rows*columns*releases)
			}
		}
		return h
	}
	excess := func(p, q []float64) (sum float64) {
		for i := range p {
			sum += max(0, p[i]-math.Exp(epsilon)*q[i])
		}
		return sum
	}
	// The sum has a deviation of 0.0005 and is up by less than 0.001, half the
	// deviations of the bins near the threshold, and 2.8 times as much with one
	// release; noise at 0.9 of its correct size adds 0.017.
	const tolerance = 0.01
	here, there := histogram(0), histogram(b.Value())
	if d := excess(there, here); d > delta+tolerance {
		t.Errorf("delta %.4f", d)
	}
	if d := excess(here, there); d > delta+tolerance {
		t.Errorf("delta %.4f the other way", d)
	}
	if d := excess(histogram(b.Value()/0.9), here); d <= delta+tolerance {
		t.Errorf("neighbours too far apart show no more than %.4f", d)
	}
}

// T-9: one release with a hundred thousand canaries (Steinke, Nasr and Jagielski
// 2023). Each coordinate holds plus or minus half the sensitivity, and the test
// guesses the thousand signs that show best. It finds gross errors only, such as
// a quarter of the noise, equivalent to canaries four times as large.
func TestOneRunAudit(t *testing.T) {
	const rows, columns, m = 400, 250, 100_000
	const epsilon, delta, guesses = 1, 1e-10, 1000
	b := boundNear(t, rows, columns, 0.0132)
	c := calibrate(t, CalibrationSettings{Epsilon: epsilon, Delta: delta, Sensitivity: b})
	source := randomness("one run")
	shown := func(factor float64) float64 {
		bits := make([]byte, m)
		if _, err := io.ReadFull(source, bits); err != nil {
			t.Fatal(err)
		}
		r := request(rows, columns)
		for i, bit := range bits {
			r.Displacement.Data[i] = factor * b.Value() * (float64(bit&1) - 0.5)
		}
		out, err := privatize(context.Background(), c, NoLedger, r, nil, source)
		if err != nil {
			t.Fatal(err)
		}
		order := make([]int, m)
		for i := range order {
			order[i] = i
		}
		abs := func(k int64) int64 { return max(k, -k) }
		slices.SortFunc(order, func(i, j int) int { return int(max(-1, min(1, abs(out.Grid[j])-abs(out.Grid[i])))) })
		right := 0
		for _, i := range order[:guesses] {
			if (out.Grid[i] > 0) == (bits[i]&1 == 1) {
				right++
			}
		}
		return audit.OneRun(m, guesses, right, delta, 0.001)
	}
	got, quarter := shown(1), shown(4)
	if got > epsilon {
		t.Errorf("epsilon is at least %.2f", got)
	}
	if quarter <= epsilon {
		t.Errorf("a quarter of the noise shows no more than %.2f", quarter)
	}
	t.Logf("epsilon at least %.2f; %.2f with a quarter of the noise", got, quarter)
}
