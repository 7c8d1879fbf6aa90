package cells

import (
	"context"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// Seconds of the machine that the costs of package kernel were measured on. They are
// compared with those of package codes and with nothing else. They are constants, since the
// choice of a search must not depend on the machine: the order of rows and the bounds of
// the weights that are left out follow from it.
const (
	rowSeconds     = 130e-9  // a point, sorted and with its tail
	clusterSeconds = 600e-9  // a cluster
	testSeconds    = 0.19e-9 // a coordinate of a point and a candidate
	lookSeconds    = 20e-9   // a coordinate of a cluster and the box of another
	weightSeconds  = 40e-9   // a weight, stored and used in some fifty steps
	// One in clusterShare clusters says what all clusters cost, and at most sampledClusters.
	clusterShare    = 8
	sampledClusters = 256
)

// Seconds estimates the time of Find with one worker, without the time of the weights, by
// the candidates of some clusters.
func (p *Prepared) Seconds(ctx context.Context) (float64, error) {
	cl, d := p.cl, float64(p.cl.D)
	clusters := len(cl.First) - 1
	sample := rows.Spread(min(clusters/clusterShare+1, sampledClusters), clusters)
	sweep, sum := cl.Sweep(p.r.Kernels), 0.0
	for _, c := range sample {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		candidates := 0.0
		sweep.Clusters(c, c+1, func(int) bool { return true })
		sweep.Candidates(c, func(from, to uint32) { candidates += float64(to - from) })
		tests := candidates * float64(cl.First[c+1]-cl.First[c])
		if candidates > batchPoints {
			tests *= 2 // to count neighbours, and to fill in their rows
		}
		sum += clusterSeconds + d*(tests*testSeconds+float64(sweep.looks())*lookSeconds)
	}
	return float64(cl.N)*rowSeconds + sum*float64(clusters)/float64(len(sample)), nil
}

// looks returns how many boxes Candidates looks at for the cluster at hand, about.
func (s *Sweep) looks() (boxes int) {
	cl := s.cl
	if cl.boxes == nil {
		return 0
	}
	for i := range s.windows {
		if w := &s.windows[i]; w.From != w.To && cl.start[w.To]-cl.start[w.From] > openPoints {
			boxes += int(cl.boxes.of[w.To]-cl.boxes.of[w.From]) + 1
		}
	}
	return boxes
}
