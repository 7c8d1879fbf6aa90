package cells

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// The estimate by some clusters is near to the sum over all clusters.
func TestSecondsOfAllClusters(t *testing.T) {
	for _, c := range []struct {
		kind   string
		n, d   int
		radius float64
	}{
		{"uniform", 20_000, 4, 0.1}, {"uniform", 6000, 8, 0.4}, {"clustered", 20_000, 5, 0.5}, {"collinear", 5000, 6, 0.01}, {"uniform", 40, 6, 0.3},
	} {
		p, err := Prepare(t.Context(), request(pointtest.Open(pointtest.Make(c.kind, c.n, c.d, 1)), c.radius))
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Seconds(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		cl := p.cl
		want, sweep := float64(cl.N)*rowSeconds, cl.Sweep(p.r.Kernels)
		sweep.Clusters(0, len(cl.First)-1, func(cluster int) bool {
			candidates := 0
			sweep.Candidates(cluster, func(from, to uint32) { candidates += int(to - from) })
			tests := float64(candidates) * float64(cl.First[cluster+1]-cl.First[cluster])
			if candidates > batchPoints {
				tests *= 2
			}
			want += clusterSeconds + float64(c.d)*(tests*testSeconds+float64(sweep.looks())*lookSeconds)
			return true
		})
		if math.Abs(got-want) > 0.3*want {
			t.Errorf("%+v: %g s by a sample, %g s by all clusters", c, got, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.Seconds(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	}
}
