package client

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A gallery is a plain server of mode sealed, which keeps to the definitions.
type gallery struct {
	manifest wire.SealedManifest
	epoch    wire.Hash
	version  uint64
	matrix   []int8 // Length x Columns
	norms    []int16
	ids      []uint32
	public   []uint32 // Columns x SecretWords
}

// shape of a gallery; of its slots one in free is empty. Norms of dimension 70 are not exact.
type shape struct{ cells, length, dimension, probes, free int }

// newGallery returns a gallery of random rows of about unit length, around random centres.
func newGallery(t *testing.T, s shape) *gallery {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(s.cells), uint64(s.length)))
	g := &gallery{matrix: make([]int8, s.length*s.cells*s.dimension), norms: make([]int16, s.cells*s.length), ids: make([]uint32, s.cells*s.length)}
	m := &g.manifest
	*m = wire.SealedManifest{Cells: s.cells, Length: s.length, Dimension: s.dimension, Probes: s.probes, Scale: 127, NormUnit: 1}
	for range m.Columns() {
		m.Centres = append(m.Centres, float32(r.NormFloat64()/math.Sqrt(float64(s.dimension))))
	}
	squared := make([]int64, m.Slots())
	for name := range squared {
		g.ids[name] = wire.Padding
		if s.free > 0 && name%s.free == s.free-1 {
			continue
		}
		m.Rows++
		g.ids[name] = uint32(m.Slots() - name)
		stored := g.stored(uint32(name))
		cell := m.Centres[name/s.length*s.dimension:]
		for j := range stored {
			v := float64(cell[j])/2 + r.NormFloat64()/math.Sqrt(float64(s.dimension))/2
			stored[j] = int8(math.Round(min(127, max(-127, v*m.Scale))))
			squared[name] += int64(stored[j]) * int64(stored[j])
		}
		m.MaxNorm = max(m.MaxNorm, squared[name])
	}
	m.NormBase = m.MaxNorm / 2
	if s.dimension == 70 {
		m.NormUnit = 3
	}
	for name, n := range squared {
		g.norms[name] = int16(math.Round(float64(n-m.NormBase) / float64(m.NormUnit)))
		if g.ids[name] == wire.Padding {
			g.norms[name] = wire.EmptySlot
		}
	}
	m.Norms = slices.Clone(g.norms)
	m.Kappa = scheme.Kappa(m.MaxNorm, m.Cells, m.Dimension)
	var err error
	if g.epoch, err = m.Hash(); err != nil {
		t.Fatal(err)
	}
	g.public = make([]uint32, m.Columns()*scheme.SecretWords)
	scheme.NewMatrix(g.epoch).Rows(g.public, 0)
	return g
}

// stored returns the entries of a slot.
func (g *gallery) stored(name uint32) []int8 {
	m := &g.manifest
	cell, slot := int(name)/m.Length, int(name)%m.Length
	return g.matrix[slot*m.Columns()+cell*m.Dimension:][:m.Dimension]
}

// row returns a row of the matrix of the server.
func (g *gallery) row(r int) []int8 {
	columns := g.manifest.Columns()
	return g.matrix[r*columns : (r+1)*columns]
}

// hintRow returns a row of the hint.
func (g *gallery) hintRow(r int) []uint32 {
	out := make([]uint32, scheme.SecretWords)
	for i, v := range g.row(r) {
		for j := range out {
			out[j] += uint32(int32(v)) * g.public[i*scheme.SecretWords+j]
		}
	}
	return out
}

func (g *gallery) hint() *wire.SealedHint {
	h := &wire.SealedHint{Epoch: g.epoch, Version: g.version, Rows: g.manifest.Length}
	for r := range h.Rows {
		h.Words = append(h.Words, g.hintRow(r)...)
	}
	for name, v := range g.norms {
		if v != g.manifest.Norms[name] {
			h.Names, h.Norms = append(h.Names, uint32(name)), append(h.Norms, v)
		}
	}
	return h
}

func (g *gallery) sealedIDs() *wire.SealedIDs {
	return &wire.SealedIDs{Epoch: g.epoch, Version: g.version, IDs: slices.Clone(g.ids)}
}

// words returns the words of a ciphertext of a request.
func words(r *wire.SealedRequest, ciphertext int) []uint32 {
	out := make([]uint32, r.Columns)
	for i := range out {
		for b, v := range r.Bytes[(ciphertext*r.Columns+i)*r.Width:][:r.Width] {
			out[i] |= uint32(v) << (8 * (b + 4 - r.Width))
		}
	}
	return out
}

func (g *gallery) answer(r *wire.SealedRequest) *wire.SealedAnswer {
	a := &wire.SealedAnswer{Epoch: g.epoch, Version: g.version, Count: r.Count, Rows: g.manifest.Length}
	for c := range r.Count {
		u := words(r, c)
		for row := range a.Rows {
			var sum uint32
			for i, v := range g.row(row) {
				sum += uint32(int32(v)) * u[i]
			}
			a.Words = append(a.Words, sum)
		}
	}
	return a
}

// client returns a client of the gallery as it is.
func (g *gallery) client(t *testing.T) *Client {
	t.Helper()
	c, err := New(&g.manifest, g.hint(), Settings{Epoch: g.epoch, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.SetIDs(g.sealedIDs()); err != nil {
		t.Fatal(err)
	}
	return c
}

// randomRows returns rows of about the given length.
func randomRows(r *rand.Rand, n, d int, length float64) blas64.General {
	out := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range out.Data {
		out.Data[i] = r.NormFloat64() * length / math.Sqrt(float64(d))
	}
	return out
}

// ask asks and demands that it works.
func ask(t *testing.T, c *Client, rows blas64.General) []*Query {
	t.Helper()
	queries, err := c.Ask(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	return queries
}
