package truncated

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/graph"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/tree"
	"github.com/seed-64e14a55/privatemail/par"
)

// MostMended is the most nearest points that an isolated row of a fixed graph is connected
// with.
const MostMended = 8

// A mend connects the isolated rows of a fixed graph with the points nearest to them, as
// many as rows have neighbours on average. Weights are added to both rows of a pair, so the
// graph stays symmetric and no row's bound gets worse.
//
// No row has a weight with an isolated one, and no point equals it.
type mend struct {
	rows  []uint32  // isolated ones, ascending
	k     int       // nearest of each
	place []uint32  // of these, nearest first
	d2    []float64 // their squared distances
	most  float64   // the largest squared distance at which float32 has a weight
	piece []int32   // of every row, its place in rows; -1 where it is not isolated
}

// mendBytes is what a mend takes for each nearest point, twice where the search finds those
// of every row.
const mendBytes = 2 * (4 + 8)

// mendGraph returns a graph in which isolated rows are connected, g itself if there are none or
// nothing that float32 weights could do. Where g stores no weights, those of the graph
// returned are the weights that were added.
func mendGraph(ctx context.Context, g *graph.Graph, p *rows.Points, b base.Bandwidth, op *Truncated, o *base.Options) (*graph.Graph, error) {
	n := g.Rows.Rows()
	if op.Cert.Isolated == 0 || n == 1 || o.Neighbours > 0 {
		return g, nil // the nearest of a row are neighbours already, or out of reach
	}
	m := &mend{k: mendedNeighbours(g), most: rows.RadiusSquared(b.MaxRadius()), piece: make([]int32, n)}
	for i := range n {
		m.piece[i] = -1
		if op.RowSums[op.First(i)] == 0 {
			m.piece[i] = int32(len(m.rows))
			m.rows = append(m.rows, uint32(i))
		}
	}
	held := mem.Saturate(float64(g.Peak) + float64(n)*float64(m.k)*mendBytes + float64(n)*(4+4+1))
	if g.Nearest == nil {
		held += tree.IndexBytes(p.N, p.D)
	}
	if err := o.Take("repair rows: nearest points", held); err != nil {
		return nil, err
	}
	if err := m.find(ctx, g, p, o); err != nil {
		return nil, err
	}
	counts := g.StoredCounts()
	if err := m.each(ctx, func(i, j uint32, _ float64) {
		counts[i+1]++
		if !m.has(j, i) {
			counts[j+1]++
		}
	}); err != nil {
		return nil, err
	}
	arrays, err := graph.RequestOf(o, nil, b, g.Radius).Allocate(ctx, counts, held)
	if err != nil {
		return nil, graph.SearchError(o, err)
	}
	if err := m.fill(ctx, g, b, arrays, o); err != nil {
		return nil, err
	}
	mended, err := g.Extended(ctx, arrays, held, o)
	if err != nil {
		return nil, err
	}
	m.bound(mended, p.N, b)
	return mended, nil
}

// mendedNeighbours returns how many nearest points an isolated row gets.
func mendedNeighbours(g *graph.Graph) int {
	n := g.Rows.Rows()
	mean := math.Round(float64(g.Entries) / float64(n))
	return min(max(int(min(mean, MostMended)), 1), n-1)
}

// find finds the points nearest to the isolated rows.
func (m *mend) find(ctx context.Context, g *graph.Graph, p *rows.Points, o *base.Options) (err error) {
	if g.Nearest != nil {
		m.place, m.d2, err = g.Nearest(ctx, m.k, m.rows)
		return err
	}
	nearest := func(i int, place []uint32, d2 []float64) int { return scan(g, i, place, d2) }
	if len(m.rows) > MostScanned {
		index, err := g.Index(ctx, p, o.Workers)
		if err != nil {
			return err
		}
		nearest = index.NearestOf
	}
	m.place, m.d2 = make([]uint32, len(m.rows)*m.k), make([]float64, len(m.rows)*m.k)
	progress := o.Stage("repair rows", len(m.rows))
	return o.Workers.Do(ctx, len(m.rows), par.Func(func(_, at int) {
		nearest(int(m.rows[at]), m.place[at*m.k:][:m.k], m.d2[at*m.k:][:m.k])
		progress.Add()
	}))
}

// MostScanned is the most rows whose nearest points a look at all points finds. An index
// takes as long to make as such a look takes for a few hundred rows.
const MostScanned = 128

// scan is tree.Index.NearestOf by a look at all points, of which there are enough.
func scan(g *graph.Graph, i int, place []uint32, d2 []float64) int {
	count := 0
	for j := range g.Rows.Rows() {
		if j == i {
			continue
		}
		v := g.Distance(i, j)
		if count == len(d2) && v > d2[count-1] {
			continue
		}
		to := count
		for to > 0 && (d2[to-1] > v || d2[to-1] == v && g.Given(int(place[to-1])) > g.Given(j)) {
			to--
		}
		if to == len(d2) {
			continue
		}
		count = min(count+1, len(d2))
		copy(place[to+1:count], place[to:])
		copy(d2[to+1:count], d2[to:])
		place[to], d2[to] = uint32(j), v
	}
	return count
}

// kept returns the nearest points of an isolated row that have a weight.
func (m *mend) kept(piece int) []uint32 {
	place, d2 := m.place[piece*m.k:][:m.k], m.d2[piece*m.k:][:m.k]
	for len(place) > 0 && d2[len(place)-1] > m.most {
		place = place[:len(place)-1]
	}
	return place
}

// has reports whether row i is isolated and gets a weight with row j.
func (m *mend) has(i, j uint32) bool {
	return m.piece[i] >= 0 && slices.Contains(m.kept(int(m.piece[i])), j)
}

// each calls do for every isolated row i and each point j that it gets a weight with, at
// the squared distance d2.
func (m *mend) each(ctx context.Context, do func(i, j uint32, d2 float64)) error {
	for piece, i := range m.rows {
		if piece%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for e, j := range m.kept(piece) {
			do(i, j, m.d2[piece*m.k+e])
		}
	}
	return nil
}

// fill writes the stored weights and those that are added to the arrays.
func (m *mend) fill(ctx context.Context, g *graph.Graph, b base.Bandwidth, a rows.Arrays, o *base.Options) error {
	next, err := g.CopyStored(ctx, a, o.Workers)
	if err != nil {
		return err
	}
	put := func(i, j uint32, w float32) {
		a.Ind[next[i]], a.Val[next[i]] = j, w
		next[i]++
	}
	if err := m.each(ctx, func(i, j uint32, d2 float64) {
		w := float32(b.Weight(d2))
		put(i, j, w)
		if !m.has(j, i) {
			put(j, i, w)
		}
	}); err != nil {
		return err
	}
	return graph.SortRows(ctx, a, o.Workers)
}

// bound bounds what is left out of the mended rows of a graph of some points: nothing that
// is nearer than the last of the nearest. A search bounds nothing for isolated rows.
func (m *mend) bound(g *graph.Graph, points int, b base.Bandwidth) {
	for piece, i := range m.rows {
		left := float64(points - 1)
		for _, j := range m.kept(piece) {
			left -= g.Multiplicity(int(j))
		}
		last := min(m.d2[piece*m.k+m.k-1], m.most)
		g.Tails[i] = left * b.Weight(last) * (1 + 1e-9)
	}
}
