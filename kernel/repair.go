package kernel

import (
	"context"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// repair returns a graph in which every row that missed the tolerance has all
// the weights it needs: those at or above tolerance/n of its full degree, so
// that what is left out is below the tolerance. Weights are added to both rows
// of a pair, so the graph stays symmetric and no other row's bound gets worse.
// The full degrees come from direct sums over all points; outliers are few.
func (g *graph) repair(ctx context.Context, b Bandwidth, op *CSR, o *Options) (*graph, error) {
	n := g.weights.Rows()
	var missed []int
	for i := range n {
		if op.cert.Eta(op.first(i)) > o.Tolerance {
			missed = append(missed, i)
		}
	}
	added := make([][]uint32, n) // partners gained, for the rows that missed
	tail := make([]float64, len(missed))
	progress := o.progress("repair rows", len(missed))
	weights := make([][]float64, o.Workers.Workers())
	err := o.Workers.Do(ctx, len(missed), par.Func(func(worker, piece int) {
		i := missed[piece]
		if weights[worker] == nil {
			weights[worker] = make([]float64, n)
		}
		w := weights[worker]
		degree := g.multiplicity(i) - 1
		for j := range n {
			w[j] = 0
			if j != i {
				w[j] = b.Weight(g.distance(i, j))
				degree += w[j] * g.multiplicity(j)
			}
		}
		// n terms below the threshold add up to less than the tolerance; the
		// margin leaves room for the stored format.
		threshold := max((o.Tolerance-op.cert.EntryRel)*0.5*degree/float64(len(op.degrees)), 0x1p-126)
		stored, _ := g.weights.Row(i)
		for j, v := range w {
			for len(stored) > 0 && int(stored[0]) < j {
				stored = stored[1:]
			}
			switch {
			case len(stored) > 0 && int(stored[0]) == j:
			case v >= threshold:
				added[i] = append(added[i], uint32(j))
			default:
				tail[piece] += v * g.multiplicity(j)
			}
		}
		progress.add()
	}))
	if err != nil {
		return nil, err
	}
	gained := make([]int, n)
	partners := make([][]uint32, n) // rows that gained a pair with this one, ascending
	for i, row := range added {
		gained[i] += len(row)
		for _, j := range row {
			if _, both := slices.BinarySearch(added[j], uint32(i)); !both {
				gained[j]++
				partners[j] = append(partners[j], uint32(i))
			}
		}
	}
	counts := make([]uint64, n+1)
	for i := range n {
		row, _ := g.weights.Row(i)
		counts[i+1] = uint64(len(row) + gained[i])
	}
	ptr, ind, val, err := o.allocate(counts, g.peak)
	if err != nil {
		return nil, err
	}
	repaired := *g
	repaired.tail = slices.Clone(g.tail)
	for i := range n {
		oldInd, oldVal := g.weights.Row(i)
		at := ptr[i]
		a, p := added[i], partners[i]
		for at < ptr[i+1] {
			// The least of three ascending lists; they have nothing in common.
			switch {
			case len(oldInd) > 0 && (len(a) == 0 || oldInd[0] < a[0]) && (len(p) == 0 || oldInd[0] < p[0]):
				ind[at], val[at] = oldInd[0], oldVal[0]
				oldInd, oldVal = oldInd[1:], oldVal[1:]
			case len(a) > 0 && (len(p) == 0 || a[0] < p[0]):
				ind[at], val[at] = a[0], float32(b.Weight(g.distance(i, int(a[0]))))
				a = a[1:]
			default:
				ind[at], val[at] = p[0], float32(b.Weight(g.distance(int(p[0]), i)))
				p = p[1:]
			}
			at++
		}
	}
	for piece, i := range missed {
		repaired.tail[i] = tail[piece]
	}
	if repaired.weights, err = sparse.New(n, n, ptr, ind, val); err != nil {
		return nil, err
	}
	size, _ := sparse.Bytes(n, uint64(len(ind)))
	repaired.peak = g.peak + size
	return &repaired, nil
}
