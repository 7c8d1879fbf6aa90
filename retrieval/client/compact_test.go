package client

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// randomBook returns a codebook and compact rows of a gallery.
func randomBook(random *rand.Rand, n, d, anchors int) (*wire.Codebook, *wire.AllRows) {
	book := &wire.Codebook{Rows: n, Size: 2, Length: min(n, 7), Dimension: d, Ranking: d, Scale: 0.01}
	for range 5 * d {
		book.Centres = append(book.Centres, float32(random.NormFloat64()))
	}
	for range anchors * d {
		book.Anchors = append(book.Anchors, float32(random.NormFloat64()))
	}
	g := &wire.AllRows{Dimension: d}
	for range n {
		g.Rows.Anchors = append(g.Rows.Anchors, uint16(random.IntN(limits.Turns*anchors)))
		g.Rows.Steps = append(g.Rows.Steps, uint16(random.Uint32()))
		for range d {
			g.Rows.Codes = append(g.Rows.Codes, int8(random.IntN(255)-127))
		}
	}
	hash, err := book.Hash()
	if err != nil {
		panic(err)
	}
	g.Codebook = hash
	return book, g
}

// plainDistance is the distance from a compact row by its definition.
func plainDistance(book *wire.Codebook, rows *wire.Compact, i int, rotated []float64) float64 {
	sum, d := 0., len(rotated)
	count := len(book.Anchors) / d
	away := slices.Clone(rotated)
	for j := range away {
		away[j] -= float64(book.Anchors[int(rows.Anchors[i])%count*d+j])
	}
	for range int(rows.Anchors[i]) / count {
		rotation.Row(away, away)
	}
	for j, q := range away {
		x := float64(book.Scale) * float64(rows.Steps[i]) / 65535 * float64(rows.Codes[i*d+j])
		sum += (q - x) * (q - x)
	}
	return math.Sqrt(sum)
}

// checkMatches compares matches with all distances, sorted.
func checkMatches(t *testing.T, name string, got []Match, k int, ids []uint32, distance func(i int) float64) {
	t.Helper()
	want := make([]Match, len(ids))
	for i, id := range ids {
		want[i] = Match{int64(id), distance(i)}
	}
	slices.SortFunc(want, compare)
	want = slices.CompactFunc(want, func(a, b Match) bool { return a.ID == b.ID })
	want = want[:min(k, len(want))]
	if len(got) != len(want) {
		t.Fatalf("%s: %d matches, want %d", name, len(got), len(want))
	}
	for i := range got {
		if got[i].ID != want[i].ID || math.Abs(got[i].Distance-want[i].Distance) > 1e-12 {
			t.Fatalf("%s: match %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

func TestAllIsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 6))
	for _, d := range []int{1, 3, 4, 7, 64, 65} {
		for _, n := range []int{1, 50, 1000} {
			book, gallery := randomBook(random, n, d, 9)
			all, err := NewAll(book, AllSettings{Codebook: gallery.Codebook}, gallery)
			if err != nil {
				t.Fatal(err)
			}
			row, rotated, ids := make([]float64, d), make([]float64, d), make([]uint32, n)
			for j := range row {
				row[j] = random.NormFloat64()
			}
			for i := range ids {
				ids[i] = uint32(i)
			}
			rotation.Row(rotated, row)
			for _, k := range []int{1, 8, 2000} {
				got, err := all.Rank(row, k)
				if err != nil {
					t.Fatal(err)
				}
				checkMatches(t, "all", got, k, ids, func(i int) float64 { return plainDistance(book, &gallery.Rows, i, rotated) })
			}
		}
	}
}

// Equal rows come in the order of their numbers.
func TestAllTies(t *testing.T) {
	book, gallery := randomBook(rand.New(rand.NewPCG(7, 7)), 400, 4, 1)
	for i := range 400 {
		gallery.Rows.Steps[i], gallery.Rows.Anchors[i] = 100, 3
		copy(gallery.Rows.Codes[4*i:], []int8{int8(i % 3), 1, 1, 1})
	}
	all, err := NewAll(book, AllSettings{UnconfirmedCodebook: true}, gallery)
	if err != nil {
		t.Fatal(err)
	}
	got, err := all.Rank([]float64{1, 2, 3, 4}, 400)
	if err != nil || len(got) != 400 {
		t.Fatal(len(got), err)
	}
	for i := 1; i < len(got); i++ {
		if compare(got[i-1], got[i]) >= 0 {
			t.Errorf("%v comes before %v", got[i-1], got[i])
		}
	}
}

func TestAllRefuses(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	book, gallery := randomBook(random, 20, 3, 4)
	_, other := randomBook(random, 20, 3, 4)
	confirmed := AllSettings{Codebook: gallery.Codebook}
	changed := func(f func(*wire.AllRows)) *wire.AllRows {
		out := *gallery
		out.Rows.Anchors, out.Rows.Steps, out.Rows.Codes = slices.Clone(out.Rows.Anchors), slices.Clone(out.Rows.Steps), slices.Clone(out.Rows.Codes)
		f(&out)
		return &out
	}
	for name, c := range map[string]struct {
		book     *wire.Codebook
		settings AllSettings
		gallery  *wire.AllRows
		want     error
	}{
		"no book":       {nil, confirmed, gallery, wire.ErrCodebook},
		"bad book":      {&wire.Codebook{}, confirmed, gallery, wire.ErrMessage},
		"no hash":       {book, AllSettings{}, gallery, wire.ErrCodebook},
		"other hash":    {book, AllSettings{Codebook: other.Codebook}, gallery, wire.ErrCodebook},
		"both":          {book, AllSettings{gallery.Codebook, true}, gallery, mechanism.ErrParam},
		"no gallery":    {book, confirmed, nil, ErrAnswer},
		"bad gallery":   {book, confirmed, &wire.AllRows{}, wire.ErrMessage},
		"other gallery": {book, confirmed, other, ErrAnswer},
		"no anchor":     {book, confirmed, changed(func(g *wire.AllRows) { g.Rows.Anchors[19] = 32 }), ErrAnswer},
		"few rows": {book, confirmed, changed(func(g *wire.AllRows) {
			g.Rows.Anchors, g.Rows.Steps, g.Rows.Codes = g.Rows.Anchors[:19], g.Rows.Steps[:19], g.Rows.Codes[:57]
		}), ErrAnswer},
		"other dimension": {book, confirmed, changed(func(g *wire.AllRows) { g.Dimension, g.Rows.Codes = 1, g.Rows.Codes[:20] }), ErrAnswer},
	} {
		if all, err := NewAll(c.book, c.settings, c.gallery); !errors.Is(err, c.want) || all != nil {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
	all, err := NewAll(book, confirmed, gallery)
	if err != nil {
		t.Fatal(err)
	}
	for want, row := range map[error][]float64{ErrRecord: {1, 2}, points.ErrNonFinite: {1, 2, math.NaN()}} {
		if got, err := all.Rank(row, 3); !errors.Is(err, want) || got != nil {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	if _, err := all.Rank([]float64{1, 2, 3}, 0); !errors.Is(err, ErrRecord) {
		t.Errorf("k = 0: error %v", err)
	}
	// Whoever changes the codebook later changes nothing.
	want, _ := all.Rank([]float64{1, 2, 3}, 20)
	book.Anchors[0], book.Anchors[5], book.Scale = 77, 78, 9
	if got, err := all.Rank([]float64{1, 2, 3}, 20); err != nil || !slices.Equal(got, want) {
		t.Errorf("other matches: %v", err)
	}
}

// gathered returns rows of a gallery.
func gathered(g *wire.AllRows, ids []uint32) (out wire.Compact) {
	for _, id := range ids {
		if id == wire.Padding {
			out.Anchors, out.Steps = append(out.Anchors, 65535), append(out.Steps, 65535) // they mean nothing
			out.Codes = append(out.Codes, make([]int8, g.Dimension)...)
			continue
		}
		out.Anchors, out.Steps = append(out.Anchors, g.Rows.Anchors[id]), append(out.Steps, g.Rows.Steps[id])
		out.Codes = append(out.Codes, g.Rows.Codes[int(id)*g.Dimension:][:g.Dimension]...)
	}
	return out
}

// compactAnswer returns a client of a codebook, and a request, an answer and a base sample,
// with rows of int8.
func compactAnswer(t *testing.T) (c *Cells, book *wire.Codebook, gallery *wire.AllRows, request *wire.CellsRequest, answer *wire.CellsAnswer, sample *wire.Base) {
	t.Helper()
	book, gallery = randomBook(rand.New(rand.NewPCG(9, 9)), 60, 5, 6)
	c, err := NewCells(book, CellsSettings{Codebook: gallery.Codebook, Epsilon: 1, Ledger: mechanism.NoLedger, Memory: NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	const none = wire.Padding
	request = &wire.CellsRequest{Codebook: gallery.Codebook, Cells: []uint32{1, 3}}
	answer = &wire.CellsAnswer{Codebook: gallery.Codebook, Cells: request.Cells, Length: 7, Dimension: 5, Encoding: wire.Int8,
		IDs: []uint32{3, 9, 10, 20, none, none, none, 0, 9, 30, 31, 32, 59, none}}
	answer.Compact = gathered(gallery, answer.IDs)
	sample = &wire.Base{Codebook: gallery.Codebook, Dimension: 5, IDs: []uint32{1, 9, 40}, Encoding: wire.Int8}
	sample.Compact = gathered(gallery, sample.IDs)
	return c, book, gallery, request, answer, sample
}

// Lists and samples of int8 are ranked by their distances, each row once, also where one of
// the two is of float32.
func TestRankCompact(t *testing.T) {
	c, book, gallery, request, answer, sample := compactAnswer(t)
	row := []float64{0.3, -1, 2, 0, 0.7}
	rotated := make([]float64, 5)
	rotation.Row(rotated, row)
	distance := func(ids []uint32) func(i int) float64 {
		return func(i int) float64 { return plainDistance(book, &gallery.Rows, int(ids[i]), rotated) }
	}
	lists := []uint32{3, 9, 10, 20, 0, 9, 30, 31, 32, 59}
	both := append(slices.Clone(lists), sample.IDs...)
	base := newBase(t, c, sample)
	for _, k := range []int{1, 4, 100} {
		got, err := c.Rank(row, k, request, answer, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkMatches(t, "lists", got, k, lists, distance(lists))
		if got, err = c.Rank(row, k, request, answer, base); err != nil {
			t.Fatal(err)
		}
		checkMatches(t, "lists and base", got, k, both, distance(both))
	}
	// A base of float32 with other rows, one of which is the record itself.
	plain := *sample
	plain.Encoding, plain.Compact, plain.Rows = wire.Float32, wire.Compact{}, make([]float32, 15)
	for j, v := range []float32{0.3, -1, 2, 0, 0.7} {
		plain.Rows[10+j] = v
	}
	got, err := c.Rank(row, 2, request, answer, newBase(t, c, &plain))
	if err != nil || got[0].ID != 40 || got[0].Distance > 1e-6 || got[1].Distance == 0 {
		t.Errorf("%v, %v", got, err)
	}
	// And lists of float32 with a base of int8, of which they have row 9.
	others := []uint32{1, 40}
	single := *answer
	single.Encoding, single.Compact, single.Rows = wire.Float32, wire.Compact{}, make([]float32, 70)
	for i := range single.Rows {
		single.Rows[i] = 100
	}
	if got, err = c.Rank(row, 2, request, &single, base); err != nil {
		t.Fatal(err)
	}
	checkMatches(t, "base", got, 2, others, distance(others))
}

// A row that came in both encodings is at its exact distance, whichever of the two is nearer.
func TestRankTakesTheExactForm(t *testing.T) {
	c, _, _, request, answer, sample := compactAnswer(t)
	row := []float64{0.3, -1, 2, 0, 0.7}
	plainBase, plainAnswer := *sample, *answer
	plainBase.Encoding, plainBase.Compact, plainBase.Rows = wire.Float32, wire.Compact{}, make([]float32, 3*5)
	plainAnswer.Encoding, plainAnswer.Compact, plainAnswer.Rows = wire.Float32, wire.Compact{}, make([]float32, 14*5)
	for _, far := range []float32{0, 1000} { // row 9 is in both lists and in the base
		copy(plainBase.Rows[1*5:], []float32{far, -1, 2, 0, 0.7})
		copy(plainAnswer.Rows[1*5:], []float32{far, -1, 2, 0, 0.7})
		copy(plainAnswer.Rows[8*5:], []float32{far, -1, 2, 0, 0.7})
		want := math.Abs(float64(far) - 0.3)
		for name, pair := range map[string]struct {
			answer *wire.CellsAnswer
			base   *wire.Base
		}{"exact base": {answer, &plainBase}, "exact lists": {&plainAnswer, sample}} {
			got, err := c.Rank(row, 100, request, pair.answer, newBase(t, c, pair.base))
			if err != nil {
				t.Fatal(err)
			}
			at := slices.IndexFunc(got, func(m Match) bool { return m.ID == 9 })
			if at < 0 || math.Abs(got[at].Distance-want) > 1e-6 {
				t.Errorf("%s: row 9 is not at a distance of %g: %v", name, want, got)
			}
			if len(got) != 11 {
				t.Errorf("%s: %d matches", name, len(got))
			}
		}
	}
}

// A record that is too far away for float64 is as far from every row, which come in the order
// of their numbers, whatever their turns.
func TestRankCompactFarAway(t *testing.T) {
	book, gallery := randomBook(rand.New(rand.NewPCG(10, 10)), 50, 8, 2)
	all, err := NewAll(book, AllSettings{Codebook: gallery.Codebook}, gallery)
	if err != nil {
		t.Fatal(err)
	}
	const far = math.MaxFloat64
	for _, row := range [][]float64{{far, far, far, far, far, far, far, far}, {far, -far, 0, 0, far, far, -far, 1}, {1e200, 0, 0, 0, 0, 0, 0, 0}} {
		got, err := all.Rank(row, 50)
		if err != nil || len(got) != 50 {
			t.Fatal(len(got), err)
		}
		for i, m := range got {
			if m.ID != int64(i) || !math.IsInf(m.Distance, 1) {
				t.Fatalf("match %d is row %d at %g", i, m.ID, m.Distance)
			}
		}
	}
}

// Distances from compact rows have the same bits on every machine: here is their hash.
func TestCompactDistanceBits(t *testing.T) {
	words := rand.NewPCG(11, 11)
	number := func() float64 { return float64(int64(words.Uint64())>>11) / (1 << 50) }
	hash := sha256.New()
	for _, d := range []int{1, 5, 64, 67} {
		book, gallery := randomBook(rand.New(rand.NewPCG(12, 12)), 40, d, 3)
		for i := range book.Anchors {
			book.Anchors[i] = float32(number())
		}
		row := make([]float64, d)
		for j := range row {
			row[j] = number()
		}
		q := newCompactQuery(book, row)
		for i := range gallery.Rows.Anchors {
			hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(q.squaredDistance(&gallery.Rows, i))))
		}
	}
	const want = "f369d5f7a86641c4afd00f8040636f77fb6114e5625bd2fb4b0a157bf6e1a5fd"
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

func TestRankCompactRefuses(t *testing.T) {
	row := make([]float64, 5)
	for name, test := range map[string]struct {
		change func(*wire.CellsAnswer, *wire.Base)
		want   error
	}{
		"anchor":         {func(a *wire.CellsAnswer, _ *wire.Base) { a.Compact.Anchors[7] = 48 }, ErrAnswer},
		"no code":        {func(a *wire.CellsAnswer, _ *wire.Base) { a.Compact.Codes[0] = -128 }, wire.ErrMessage},
		"encoding":       {func(a *wire.CellsAnswer, _ *wire.Base) { a.Encoding = 2 }, wire.ErrMessage},
		"other encoding": {func(a *wire.CellsAnswer, _ *wire.Base) { a.Encoding = wire.Float32 }, wire.ErrMessage},
		"base anchor":    {func(_ *wire.CellsAnswer, b *wire.Base) { b.Compact.Anchors[2] = 48 }, ErrAnswer},
		"base encoding":  {func(_ *wire.CellsAnswer, b *wire.Base) { b.Encoding = wire.Float32 }, wire.ErrMessage},
	} {
		c, _, _, request, answer, sample := compactAnswer(t)
		test.change(answer, sample)
		base, err := c.NewBase(sample)
		if err == nil {
			_, err = c.Rank(row, 2, request, answer, base)
		}
		if !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	c, _, _, request, answer, sample := compactAnswer(t)
	base := newBase(t, c, sample)
	want, err := c.Rank(row, 9, request, answer, base)
	if err != nil {
		t.Fatal(err)
	}
	sample.Compact.Anchors[0], sample.Compact.Steps[1], sample.Compact.Codes[2] = 9, 9, -128
	if got, err := c.Rank(row, 9, request, answer, base); err != nil || !slices.Equal(got, want) {
		t.Errorf("the base is no copy: %v", err)
	}
}
