package privatemail

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"pgregory.net/rapid"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// spread returns n rows of d columns: uniform, in clusters of a normal distribution, or on a
// line with a crowd at its end.
func spread(kind string, n, d int, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 9))
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	for i := range n {
		row := x.Data[i*d:][:d]
		for c := range row {
			switch kind {
			case "uniform":
				row[c] = rng.Float32()
			case "clusters":
				row[c] = float32(i%7*(c+1)) + float32(0.3*rng.NormFloat64())
			default:
				row[c] = float32(math.Pow(rng.Float64(), 3)) + float32(c)*1e-3*rng.Float32()
			}
		}
	}
	return x
}

// liveHeap returns the bytes that are in use.
func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// With growing memory limits a call is refused before its long work begins, until it is
// admitted, and then it succeeds. Its memory at every stage is within the limit.
func TestCallsThatAreLetInEnd(t *testing.T) {
	for _, c := range []struct {
		kind, operator string
		n, d           int
		settings       Settings
	}{
		{"uniform", "pairs", 60_000, 2, Settings{Graph: Graph{MeanNeighbours: 20}}},
		{"uniform", "pairs", 60_000, 2, Settings{Graph: Graph{MeanNeighbours: 4}, Form: kernel.Attract}},
		{"uniform", "csr", 60_000, 2, Settings{Graph: Graph{MeanNeighbours: 20}}},
		{"clusters", "pairs", 40_000, 3, Settings{Graph: Graph{MeanNeighbours: 30}, Dim: 8}},
		{"line", "pairs", 40_000, 2, Settings{Graph: Graph{MeanNeighbours: 10, NormalizeRows: true}}},
		{"clusters", "csr", 30_000, 2, Settings{Graph: Graph{Neighbours: 8}, Dim: 12}},
	} {
		x := spread(c.kind, c.n, c.d, 1)
		s := c.settings
		if s.Operator = c.operator; s.Neighbours > 0 {
			s.Operator = ""
		}
		filled, err := s.withDefaults(x)
		if err != nil {
			t.Fatal(err)
		}
		filled.stepBytes = filled.pointBytes(x)
		least, err := fixedEngine(t, 1<<40).leastBytes(x, &filled)
		if err != nil {
			t.Fatal(err)
		}
		before, held, last, done := liveHeap(), int64(0), "", 0
		for limit := int64(least) * 9 / 10; ; limit += limit / 20 {
			held, last, done = 0, "", 0
			e := fixedEngine(t, limit, WithProgress(func(p Progress) {
				if p.Stage != last || p.Done == p.Total/2 || p.Done == p.Total {
					held = max(held, liveHeap()-before)
				}
				last, done = p.Stage, p.Done
			}))
			out, err := e.Embed(t.Context(), x, nil, &s)
			if held > limit+limit/50 {
				t.Errorf("%s, %s: %d bytes are in use in stage %s, limit %d", c.kind, c.operator, held, last, limit)
			}
			if err == nil {
				if out.Points.RawMatrix().Rows != c.n || float64(limit) < least {
					t.Errorf("%s, %s: let in with %d bytes, at least %.0f", c.kind, c.operator, limit, least)
				}
				break
			}
			if !errors.Is(err, kernel.ErrMemory) || last == "steps" || last == "degrees" || last == "list pairs" || last == "find neighbours" && c.kind == "uniform" {
				t.Errorf("%s, %s: limit %d: %v, after %d pieces of stage %s", c.kind, c.operator, limit, err, done, last)
			}
			if limit > int64(10*least) {
				t.Fatalf("%s, %s: refused with %d bytes: %v", c.kind, c.operator, limit, err)
			}
		}
	}
}

// The final reservation is the one made when the long work began, or at most a quarter
// more, for any rows.
func TestReservationIsEstimatedBeforehand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, d := rapid.IntRange(300, 6000).Draw(t, "n"), rapid.IntRange(1, 3).Draw(t, "d")
		x := spread(rapid.SampledFrom([]string{"uniform", "clusters", "line"}).Draw(t, "kind"), n, d, rapid.Uint64().Draw(t, "seed"))
		o := &kernel.Options{
			Operator: rapid.SampledFrom([]string{"pairs", "csr"}).Draw(t, "operator"), MaxMemory: 1 << 34, Calibration: &kernel.Calibration{},
			StepBytes: int64(n) * int64(rapid.IntRange(0, 400).Draw(t, "bytes of steps")),
		}
		points, err := kernel.Open(x, o)
		if err != nil {
			t.Fatal(err)
		}
		b, radius, err := points.BandwidthForDegree(t.Context(), rapid.Float64Range(1, 60).Draw(t, "neighbours"), 0, o)
		if err != nil {
			t.Skip(err)
		}
		began, most := int64(-1), int64(0)
		o.CutoffRadius = radius
		o.Progress = func(stage string, _, _ int) {
			if began < 0 && (stage == "list pairs" || stage == "find neighbours") {
				began = most
			}
		}
		o.Reserve = func(bytes int64) bool { most = max(most, bytes); return true }
		op, err := points.Build(t.Context(), b, o)
		if err != nil {
			t.Fatal(err)
		}
		defer op.Close()
		cost := op.Cost()
		if most < cost.PeakBytes || most < cost.ResidentBytes+o.StepBytes {
			t.Fatalf("%d bytes are reserved, %d taken, %d kept in addition to %d of steps", most, cost.PeakBytes, cost.ResidentBytes, o.StepBytes)
		}
		if began > 0 && float64(most) > 1.25*float64(began) {
			t.Fatalf("%d bytes are reserved in the end, %d when the long work began", most, began)
		}
		if least, err := o.LeastBytes(n, d); err != nil || least > most {
			t.Fatalf("at least %d, reserved %d: %v", least, most, err)
		}
	})
}
