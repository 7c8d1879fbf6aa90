package server

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A snapshot is what a client has of a version, and the rows of the matrix.
type snapshot struct {
	hint  []uint32
	norms []int16
	ids   []uint32
	rows  []int8
}

func snapshotOf(g *Gallery) snapshot {
	s := snapshot{slices.Clone(g.Hint().Words), slices.Clone(g.slots.norms.values), slices.Clone(g.IDs().IDs), nil}
	row := make([]int8, g.manifest.Columns())
	for r := range g.manifest.Length {
		g.slots.matrix.row(row, r, 0)
		s.rows = append(s.rows, row...)
	}
	return s
}

func (s snapshot) equal(o snapshot) bool {
	return slices.Equal(s.hint, o.hint) && slices.Equal(s.norms, o.norms) && slices.Equal(s.ids, o.ids)
}

// after returns the snapshot with changes, as a client applies them.
func (s snapshot) after(c *wire.SealedChanges) snapshot {
	s = snapshot{slices.Clone(s.hint), slices.Clone(s.norms), slices.Clone(s.ids), nil}
	for i, r := range c.Rows {
		copy(s.hint[int(r)*scheme.SecretWords:], c.Words[i*scheme.SecretWords:(i+1)*scheme.SecretWords])
	}
	for i, name := range c.Names {
		s.norms[name], s.ids[name] = c.Norms[i], c.IDs[i]
	}
	return s
}

// Rows that were inserted, and those that were removed, leave a gallery as if it had been built
// so, hint included.
func TestInsertAndRemove(t *testing.T) {
	all := unitRows(3, 60, 5, 3)
	x := all
	x.Rows = 40
	g := newGallery(t, x, Settings{Cells: 6, Seed: 1})
	manifest, err := g.Manifest().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	before := snapshotOf(g)
	held := g.Hint()
	var names []uint32
	for id := 40; id < 54; id++ { // 6 cells of 9 slots
		row := all.Data[id*5 : (id+1)*5]
		distances := make([]float64, 6)
		g.centres.distances(distances, row)
		name, err := g.Insert(row, uint32(id))
		if err != nil {
			t.Fatal(err)
		}
		for cell, v := range distances { // all nearer cells are full, and slots before it
			if full := !slices.Contains(g.IDs().IDs[cell*9:(cell+1)*9], wire.Padding); !full && cell != int(name)/9 && v < distances[name/9] {
				t.Errorf("row %d went to cell %d, and %d is nearer", id, name/9, cell)
			}
		}
		if slices.Contains(g.IDs().IDs[name/9*9:name], wire.Padding) {
			t.Errorf("row %d is in slot %d, and one before it is free", id, name)
		}
		names = append(names, name)
		if g.Version() != uint64(len(names)) || g.Rows() != 40+len(names) {
			t.Errorf("version %d, %d rows after %d", g.Version(), g.Rows(), len(names))
		}
	}
	checkGallery(t, g, all)
	if !slices.Equal(held.Words, before.hint) {
		t.Error("a hint has changed that was handed out")
	}
	for _, name := range names {
		if err := g.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	checkGallery(t, g, all)
	if !snapshotOf(g).equal(before) || g.Version() != uint64(2*len(names)) {
		t.Error("what was inserted and removed has left something")
	}
	if again, err := g.Manifest().MarshalBinary(); err != nil || !slices.Equal(again, manifest) {
		t.Error("the manifest has changed:", err)
	}
	for _, name := range []uint32{names[0], 54, math.MaxUint32} {
		if err := g.Remove(name); !errors.Is(err, errName) {
			t.Errorf("slot %d: %v", name, err)
		}
	}
}

func TestInsertRefuses(t *testing.T) {
	// Norms of 100^2 to 127^2, which is 16129, in 2 cells of 3 slots.
	x := blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{127, 0, 0, 100, 101, 1, 102, 0}}
	g := newGallery(t, x, Settings{Cells: 2})
	for name, c := range map[string]struct {
		row  []float64
		id   uint32
		want error
	}{
		"dimension": {[]float64{1}, 5, ErrGallery},
		"NaN":       {[]float64{1, math.NaN()}, 5, points.ErrNonFinite},
		"infinite":  {[]float64{math.Inf(1), 0}, 5, points.ErrNonFinite},
		"padding":   {[]float64{100, 0}, wire.Padding, ErrGallery},
		"long":      {[]float64{127, 32}, 5, ErrFull}, // 16129 + 1008 is the most
		"clipped":   {[]float64{1000, 1000}, 5, ErrFull},
	} {
		if _, err := g.Insert(c.row, c.id); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if g.Version() != 0 {
		t.Errorf("version %d", g.Version())
	}
	name, err := g.Insert([]float64{1e9, 31}, 7) // clipped to 127, and a little longer than others
	if err != nil || g.IDs().IDs[name] != 7 {
		t.Fatal(name, err)
	}
	if _, err := g.Insert([]float64{101, 0}, 8); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Insert([]float64{101, 0}, 9); !errors.Is(err, ErrFull) {
		t.Errorf("all slots have a row: %v", err)
	}
	if err := g.Remove(4); err != nil {
		t.Fatal(err)
	}
	if name, err := g.Insert([]float64{101, 0}, 9); err != nil || name != 4 {
		t.Errorf("slot 4 is free: %d, %v", name, err)
	}
	short := newGallery(t, blas64.General{Rows: 2, Cols: 4, Stride: 4, Data: []float64{127, 127, 127, 127, 127, 127, 127, 126}}, Settings{Cells: 1})
	if _, err := short.Insert(make([]float64, 4), 5); !errors.Is(err, ErrFull) {
		t.Errorf("a norm far below the others: %v", err)
	}
	// The rotation of so large a row is not finite: a row of zeros, which fits, would be stored.
	zeros := newGallery(t, blas64.General{Rows: 2, Cols: 8, Stride: 8, Data: append(make([]float64, 8), 1, 2, 3, 4, 5, 6, 7, 8)}, Settings{Cells: 1, Rounds: -1})
	for _, largest := range []float64{1e151, math.MaxFloat64} {
		row := []float64{largest, -largest, largest, -largest, largest, -largest, largest, -largest}
		if name, err := zeros.Insert(row, 5); !errors.Is(err, ErrFull) {
			t.Errorf("entries of %g: slot %d, %v", largest, name, err)
		}
	}
	// Rotating the longest rows that float64 has makes infinities, and NaN of these.
	wide := newGallery(t, blas64.General{Rows: 2, Cols: 4, Stride: 4, Data: []float64{1, 0, 0, 0, 0, 0, 0, 90}}, Settings{Cells: 1})
	for signs := range 16 {
		row := make([]float64, 4)
		for j := range row {
			row[j] = math.MaxFloat64 * float64(1-signs>>j&1*2)
		}
		if _, err := wide.Insert(row, 5); !errors.Is(err, ErrFull) {
			t.Errorf("signs %04b of the largest numbers: %v", signs, err)
		}
	}
}

// From any version of which a client may be, changes lead to any that the history still has.
func TestChanges(t *testing.T) {
	const history = 5
	all := unitRows(4, 200, 3, 3)
	x := all
	x.Rows = 30
	random := rand.New(rand.NewPCG(1, 2))
	g := newGallery(t, x, Settings{Cells: 3, History: history})
	var snapshots []snapshot
	check := func(g *Gallery, oldest uint64) {
		t.Helper()
		current := g.Version()
		for to := range current + 2 {
			for since := range current + 2 {
				c, err := g.Changes(since, to)
				if since > to || to > current || to < oldest {
					if !errors.Is(err, ErrChanges) {
						t.Fatalf("%d to %d of %d: %v", since, to, current, err)
					}
					continue
				}
				if err != nil || c.Check() != nil || c.Epoch != g.Epoch() || c.Since != since || c.Version != to {
					t.Fatalf("%d to %d of %d: %v", since, to, current, err)
				}
				if !snapshots[since].after(c).equal(snapshots[to]) {
					t.Fatalf("%d to %d of %d: another version", since, to, current)
				}
				if since == to && len(c.Rows)+len(c.Names) > 0 {
					t.Fatalf("version %d has changes since itself", to)
				}
			}
		}
	}
	oldest := func(g *Gallery) uint64 { return g.Version() - min(g.Version(), history) }
	change := func(g *Gallery) {
		ids := g.IDs().IDs
		if name := random.IntN(len(ids)); ids[name] != wire.Padding {
			if err := g.Remove(uint32(name)); err != nil {
				t.Fatal(err)
			}
		} else if id := 30 + random.IntN(170); true {
			if _, err := g.Insert(all.Data[id*3:(id+1)*3], uint32(id)); err != nil && !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
		}
	}
	for g.Version() < 14 {
		if uint64(len(snapshots)) == g.Version() {
			snapshots = append(snapshots, snapshotOf(g))
			check(g, oldest(g))
		}
		change(g)
	}
	snapshots = append(snapshots, snapshotOf(g))

	// A file keeps what has changed, and no version before its own.
	opened := reopened(t, saved(t, g))
	check(opened, 14)
	for opened.Version() < 17 {
		if change(opened); uint64(len(snapshots)) == opened.Version() {
			snapshots = append(snapshots, snapshotOf(opened))
			check(opened, 14)
		}
	}
}

// An answer is of one version, whatever changes meanwhile.
func TestAnswerDuringChanges(t *testing.T) {
	all := unitRows(5, 200, 4, 3)
	x := all
	x.Rows = 100
	workers := par.New(2)
	defer workers.Close()
	g := newGallery(t, x, Settings{Cells: 4, Workers: workers})
	snapshots := []snapshot{snapshotOf(g)}
	request := drawnRequest(rand.New(rand.NewPCG(1, 2)), g.Epoch(), 4, 16, 3)
	var answering sync.WaitGroup
	answers := make([][]*wire.SealedAnswer, 3)
	stop := make(chan struct{})
	for i := range answers {
		answering.Go(func() {
			for {
				got, err := g.Answer(t.Context(), request)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = g.Hint(), g.IDs()
				answers[i] = append(answers[i], got...)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for id := 100; id < 115; id++ {
		if name, err := g.Insert(all.Data[id*4:(id+1)*4], uint32(id)); err == nil {
			snapshots = append(snapshots, snapshotOf(g))
			if err := g.Remove(name); err != nil {
				t.Fatal(err)
			}
			snapshots = append(snapshots, snapshotOf(g))
		}
	}
	close(stop)
	answering.Wait()
	for _, all := range answers {
		for _, a := range all {
			rows := snapshots[a.Version].rows
			for c := range 4 {
				want := bigProduct(rows, a.Rows, 16, request.Bytes[c*48:(c+1)*48], 3)
				if !slices.Equal(a.Words[c*a.Rows:(c+1)*a.Rows], want) {
					t.Fatalf("the answer is not that of version %d", a.Version)
				}
			}
		}
	}
}
