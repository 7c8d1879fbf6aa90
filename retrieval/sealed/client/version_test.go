package client

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// put puts a random row into a slot, or takes the row there out, and returns the changes.
func (g *gallery) put(r *rand.Rand, name uint32, remove bool) *wire.SealedChanges {
	since := g.version
	g.version++
	stored := g.stored(name)
	var norm int64
	for j := range stored {
		if stored[j] = int8(r.IntN(9) - 4); remove {
			stored[j] = 0
		}
		norm += int64(stored[j]) * int64(stored[j])
	}
	g.norms[name], g.ids[name] = int16(norm-g.manifest.NormBase), uint32(1000+g.version)
	if remove {
		g.norms[name], g.ids[name] = wire.EmptySlot, wire.Padding
	}
	row := int(name) % g.manifest.Length
	return &wire.SealedChanges{
		Epoch: g.epoch, Since: since, Version: g.version, Rows: []uint32{uint32(row)}, Words: g.hintRow(row),
		Names: []uint32{name}, Norms: []int16{g.norms[name]}, IDs: []uint32{g.ids[name]},
	}
}

// checkRanked demands all rows of the nearest cells of the gallery as it is.
func checkRanked(t *testing.T, g *gallery, c *Client, q *Query, answer *wire.SealedAnswer, row []float64) {
	t.Helper()
	got, err := c.Rank(q, answer, g.manifest.Slots())
	want := g.exact(row)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d of %d rows: %v", len(got), len(want), err)
	}
	for _, m := range got {
		squared, found := want[m.Name]
		if off := m.Distance*m.Distance - squared; !found || off > 4*c.Bound() || off < -4*c.Bound() || m.ID != g.ids[m.Name] {
			t.Errorf("slot %d, row %d: off by %g", m.Name, m.ID, off)
		}
	}
}

// A gallery grows while a query is on its way: the client takes the changes, and the same secrets
// decrypt the answer.
func TestGrowingGallery(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := newGallery(t, shape{4, 7, 5, 4, 3})
	c := g.client(t)
	row := randomRows(r, 1, 5, 1)
	q := ask(t, c, row)[0]
	old := g.answer(q.Request())
	var names []uint32
	for name, v := range g.norms {
		if v == wire.EmptySlot {
			names = append(names, uint32(name))
		}
	}
	before := *g
	before.matrix, before.norms, before.ids = slices.Clone(g.matrix), slices.Clone(g.norms), slices.Clone(g.ids)
	for i, name := range []uint32{names[0], names[1], 0, names[0]} { // new rows, one removed, one replaced
		changes := g.put(r, name, name == 0)
		answer := g.answer(q.Request())
		var missing *VersionError
		if _, err := c.Rank(q, answer, 3); !errors.As(err, &missing) || !errors.Is(err, ErrVersion) || *missing != (VersionError{uint64(i), uint64(i + 1)}) {
			t.Fatalf("version %d: %v", i+1, err)
		}
		for range 2 { // a second time does nothing
			if err := c.Update(changes); err != nil || c.Version() != uint64(i+1) {
				t.Fatalf("version %d: %v", c.Version(), err)
			}
		}
		checkRanked(t, g, c, q, answer, row.Data)
		checkRanked(t, &before, c, q, old, row.Data)
	}
	// A client that comes later has a hint and row numbers of that version.
	later := g.client(t)
	if later.Version() != 4 {
		t.Errorf("version %d", later.Version())
	}
	q = ask(t, later, row)[0]
	checkRanked(t, g, later, q, g.answer(q.Request()), row.Data)
	var missing *VersionError
	if _, err := later.Rank(q, old, 3); !errors.As(err, &missing) || *missing != (VersionError{4, 0}) {
		t.Errorf("an answer from before: %v", err)
	}
}

// Some versions are kept, and gaps between them can be filled.
func TestKeptVersions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	g := newGallery(t, shape{4, 7, 5, 4, 0})
	c := g.client(t)
	var all []*wire.SealedChanges
	for name := range uint32(12) {
		all = append(all, g.put(r, name, false))
	}
	skip := *all[1] // from 0 to 2
	skip.Since = 0
	for _, changes := range []*wire.SealedChanges{&skip, all[0], all[2]} {
		if err := c.Update(changes); err != nil {
			t.Fatal(err)
		}
	}
	numbers := func() (out []uint64) {
		for _, v := range c.versions {
			out = append(out, v.number)
		}
		return out
	}
	if got := numbers(); !slices.Equal(got, []uint64{0, 1, 2, 3}) {
		t.Errorf("versions %d", got)
	}
	for _, changes := range all[3:] {
		if err := c.Update(changes); err != nil {
			t.Fatal(err)
		}
	}
	if got := numbers(); len(got) != KeptVersions || c.Version() != 12 || got[0] != 13-KeptVersions {
		t.Errorf("versions %d", got)
	}
	if err := c.SetIDs(&wire.SealedIDs{Epoch: g.epoch, Version: 10, IDs: g.ids}); err != nil {
		t.Fatal(err)
	}
	if got := numbers(); !slices.Equal(got, []uint64{10}) {
		t.Errorf("versions %d with row numbers", got)
	}
}

func TestUpdateRefuses(t *testing.T) {
	g := newGallery(t, shape{4, 7, 5, 4, 3})
	c := g.client(t)
	right := g.put(rand.New(rand.NewPCG(1, 2)), 2, false)
	change := func(f func(*wire.SealedChanges)) *wire.SealedChanges {
		out := *right
		out.Rows, out.Names, out.Norms = slices.Clone(right.Rows), slices.Clone(right.Names), slices.Clone(right.Norms)
		f(&out)
		return &out
	}
	for name, test := range map[string]struct {
		changes *wire.SealedChanges
		err     error
	}{
		"none":          {nil, ErrEpoch},
		"no message":    {change(func(c *wire.SealedChanges) { c.Words = nil }), wire.ErrMessage},
		"another epoch": {change(func(c *wire.SealedChanges) { c.Epoch[0]++ }), ErrEpoch},
		"a row beyond":  {change(func(c *wire.SealedChanges) { c.Rows[0] = 7 }), ErrEpoch},
		"a slot beyond": {change(func(c *wire.SealedChanges) { c.Names[0] = 28 }), ErrEpoch},
		"a norm beyond": {change(func(c *wire.SealedChanges) { c.Norms[0] = 32767 }), wire.ErrMessage},
		"not from here": {change(func(c *wire.SealedChanges) { c.Since, c.Version = 3, 4 }), ErrVersion},
	} {
		if err := c.Update(test.changes); !errors.Is(err, test.err) || c.Version() != 0 {
			t.Errorf("%s: error %v, want %v", name, err, test.err)
		}
	}
	ids := func(f func(*wire.SealedIDs)) *wire.SealedIDs {
		out := &wire.SealedIDs{Epoch: g.epoch, IDs: slices.Clone(g.ids)}
		f(out)
		return out
	}
	for name, test := range map[string]struct {
		ids *wire.SealedIDs
		err error
	}{
		"none":            {nil, ErrEpoch},
		"no message":      {new(wire.SealedIDs), wire.ErrMessage},
		"another epoch":   {ids(func(i *wire.SealedIDs) { i.Epoch[0]++ }), ErrEpoch},
		"too few":         {ids(func(i *wire.SealedIDs) { i.IDs = i.IDs[1:] }), ErrEpoch},
		"another version": {ids(func(i *wire.SealedIDs) { i.Version = 1 }), ErrVersion},
	} {
		if err := c.SetIDs(test.ids); !errors.Is(err, test.err) {
			t.Errorf("ids, %s: error %v, want %v", name, err, test.err)
		}
	}
}
