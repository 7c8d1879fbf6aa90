package client

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// shapes of galleries: one cell, dimensions that are no multiple of what is encrypted at a time,
// slots that are empty.
var shapes = []shape{{1, 5, 3, 1, 0}, {4, 7, 5, 2, 3}, {9, 30, 24, 4, 4}, {6, 11, 70, 6, 2}}

// exact returns the squared distances between a row and the stored rows of the nearest cells, by
// name.
func (g *gallery) exact(row []float64) map[uint32]float64 {
	m := &g.manifest
	cells := make([]int, m.Cells)
	far := make([]float64, m.Cells)
	for c := range cells {
		cells[c] = c
		for j, v := range row {
			far[c] += (v - float64(m.Centres[c*m.Dimension+j])) * (v - float64(m.Centres[c*m.Dimension+j]))
		}
	}
	slices.SortStableFunc(cells, func(a, b int) int { return cmp.Compare(far[a], far[b]) })
	out := make(map[uint32]float64)
	rotated := make([]float64, len(row))
	rotation.Row(rotated, row)
	for _, c := range cells[:m.Probes] {
		for name := uint32(c * m.Length); name < uint32((c+1)*m.Length); name++ {
			if g.norms[name] == -1<<15 {
				continue
			}
			sum := 0.
			for j, v := range g.stored(name) {
				e := rotated[j] - float64(v)/m.Scale
				sum += e * e
			}
			out[name] = sum
		}
	}
	return out
}

func rowOf(rows blas64.General, i int) []float64 { return rows.Data[i*rows.Stride:][:rows.Cols] }

// Ranked rows are those of the nearest cells, all of them, at their distances up to the bound,
// and for rows of any length.
func TestRank(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, s := range shapes {
		g := newGallery(t, s)
		c := g.client(t)
		for _, length := range []float64{0, 1e-250, .01, 1, 30} {
			rows := randomRows(r, 3, s.dimension, length)
			for i, q := range ask(t, c, rows) {
				want := g.exact(rowOf(rows, i))
				got, err := c.Rank(q, g.answer(q.Request()), s.cells*s.length)
				if err != nil || len(got) != len(want) {
					t.Fatalf("%v: %d of %d rows: %v", s, len(got), len(want), err)
				}
				if cap(got) != g.manifest.Probes*s.length {
					t.Errorf("%v: room for %d matches", s, cap(got))
				}
				for _, m := range got[len(got):cap(got)] {
					if m != (Match{wire.Padding, wire.Padding, math.Inf(1)}) {
						t.Errorf("%v: behind the end is %v", s, m)
					}
				}
				norms := float64(g.manifest.NormUnit/2) / g.manifest.Scale / g.manifest.Scale
				bound := (c.Bound()-norms)*blas64.Nrm2(blas64.Vector{N: s.dimension, Inc: 1, Data: rowOf(rows, i)}) + norms + 1e-9*(1+length*length)
				for j, m := range got {
					squared, ok := want[m.Name]
					if off := math.Abs(m.Distance*m.Distance - squared); !ok || off > bound {
						t.Errorf("%v, length %g: slot %d is off by %g, bound %g", s, length, m.Name, off, bound)
					}
					if m.ID != g.ids[m.Name] {
						t.Errorf("%v: slot %d has row number %d, want %d", s, m.Name, m.ID, g.ids[m.Name])
					}
					if j > 0 && got[j-1].Distance > m.Distance {
						t.Errorf("%v: match %d is nearer than the one before it", s, j)
					}
				}
				few, err := c.Rank(q, g.answer(q.Request()), 2)
				if err != nil || !slices.Equal(few, got[:min(2, len(got))]) {
					t.Errorf("%v: the two nearest are others: %v", s, err)
				}
			}
		}
	}
}

// What is public of an answer is checked before anything is decrypted.
func TestRankRefuses(t *testing.T) {
	g, other := newGallery(t, shapes[1]), newGallery(t, shapes[2])
	c := g.client(t)
	q := ask(t, c, randomRows(rand.New(rand.NewPCG(1, 2)), 1, 5, 1))[0]
	foreign := ask(t, other.client(t), randomRows(rand.New(rand.NewPCG(1, 2)), 1, 24, 1))[0]
	answer := func(f func(*wire.SealedAnswer)) *wire.SealedAnswer { a := g.answer(q.Request()); f(a); return a }
	same := func(*wire.SealedAnswer) {}
	for name, test := range map[string]struct {
		q      *Query
		answer *wire.SealedAnswer
		k      int
		err    error
	}{
		"no query":         {nil, answer(same), 1, ErrAnswer},
		"not one of Ask":   {new(Query), answer(same), 1, ErrAnswer},
		"no answer":        {q, nil, 1, ErrAnswer},
		"no message":       {q, new(wire.SealedAnswer), 1, wire.ErrMessage},
		"too short":        {q, answer(func(a *wire.SealedAnswer) { a.Words = a.Words[1:] }), 1, wire.ErrMessage},
		"another epoch":    {q, answer(func(a *wire.SealedAnswer) { a.Epoch[0]++ }), 1, ErrAnswer},
		"another count":    {q, answer(func(a *wire.SealedAnswer) { a.Count, a.Rows = 1, 14 }), 1, ErrAnswer},
		"other rows":       {q, answer(func(a *wire.SealedAnswer) { a.Rows, a.Words = 6, a.Words[:12] }), 1, ErrAnswer},
		"another gallery":  {q, other.answer(foreign.Request()), 1, ErrAnswer},
		"a foreign query":  {foreign, answer(same), 1, ErrAnswer},
		"another version":  {q, answer(func(a *wire.SealedAnswer) { a.Version = 9 }), 1, ErrVersion},
		"none are nearest": {q, answer(same), 0, ErrRecord},
	} {
		if matches, err := c.Rank(test.q, test.answer, test.k); !errors.Is(err, test.err) || matches != nil {
			t.Errorf("%s: error %v, want %v", name, err, test.err)
		}
	}
}

// A server that lies spoils the result. Nothing else depends on what it answers: there is no
// error, there are as many matches, and the client goes on as it was.
func TestLyingServer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := newGallery(t, shapes[2])
	c := g.client(t)
	seeds := newFixedSeeds(5)
	c.seeds = seeds
	q := ask(t, c, randomRows(r, 1, 24, 1))[0]
	right := g.answer(q.Request())
	want, err := c.Rank(q, right, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for name, lie := range map[string]func(i int) uint32{
		"zeros":    func(int) uint32 { return 0 },
		"ones":     func(int) uint32 { return math.MaxUint32 },
		"random":   func(int) uint32 { return r.Uint32() },
		"extremes": func(i int) uint32 { return 1<<31 - uint32(i%2) },
		"one off":  func(i int) uint32 { return right.Words[i] ^ 1<<31 },
	} {
		answer := *right
		answer.Words = make([]uint32, len(right.Words))
		for i := range answer.Words {
			answer.Words[i] = lie(i)
		}
		for _, k := range []int{1, 8, 1000} {
			got, err := c.Rank(q, &answer, k)
			if err != nil || len(got) != min(k, len(want)) {
				t.Errorf("%s: %d matches, %v", name, len(got), err)
			}
			for _, m := range got {
				if m.Distance-m.Distance != 0 || !slices.ContainsFunc(want, func(w Match) bool { return w.Name == m.Name && w.ID == m.ID }) {
					t.Errorf("%s: %+v", name, m)
				}
			}
		}
	}
	if again, err := c.Rank(q, right, 1000); err != nil || !slices.Equal(again, want) || len(seeds.given) != 4 || c.Version() != 0 {
		t.Errorf("the client has changed: %v", err)
	}
}

// Equal rows have equal distances but for the errors of their scores; where those agree, names
// decide.
func TestTiesByName(t *testing.T) {
	g := newGallery(t, shape{2, 40, 3, 2, 0})
	clear(g.matrix) // all scores are 0
	for i := range g.norms {
		g.norms[i] = 0
	}
	g.manifest.Norms = slices.Clone(g.norms)
	var err error
	if g.epoch, err = g.manifest.Hash(); err != nil {
		t.Fatal(err)
	}
	c := g.client(t)
	q := ask(t, c, randomRows(rand.New(rand.NewPCG(1, 2)), 1, 3, 1))[0]
	got, err := c.Rank(q, g.answer(q.Request()), 80)
	if err != nil || len(got) != 80 {
		t.Fatal(len(got), err)
	}
	for i, m := range got {
		if m.Name != uint32(i) {
			t.Errorf("match %d has name %d", i, m.Name)
		}
	}
}

// One client serves many at the same time, while the gallery grows.
func TestConcurrentUse(t *testing.T) {
	g := newGallery(t, shapes[1])
	c := g.client(t)
	var group sync.WaitGroup
	for i := range 4 {
		rows := randomRows(rand.New(rand.NewPCG(1, uint64(i))), 2, 5, 1)
		group.Go(func() {
			queries, err := c.Ask(t.Context(), rows)
			if err != nil {
				t.Error(err)
				return
			}
			for _, q := range queries {
				answer := g.answer(q.Request())
				if _, err := c.Rank(q, answer, 3); err != nil {
					t.Error(err)
				}
				q.Forget()
			}
		})
	}
	for since := range uint64(5) {
		if err := c.Update(&wire.SealedChanges{Epoch: g.epoch, Since: since, Version: since + 1}); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
}
