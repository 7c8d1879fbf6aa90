package client

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// testBook has many centres on a line, so that two draws hardly ever agree.
func testBook(t *testing.T, version uint64) (*wire.Codebook, wire.Hash) {
	t.Helper()
	book, hash, err := newTestBook(version)
	if err != nil {
		t.Fatal(err)
	}
	return book, hash
}

func newTestBook(version uint64) (*wire.Codebook, wire.Hash, error) {
	book := &wire.Codebook{Version: version, Rows: 1000, Size: 4, Length: 3, Dimension: 2, Ranking: 1, Scale: 0.5, Anchors: []float32{0, 4}}
	for c := range 1000 {
		book.Centres = append(book.Centres, float32(c), 0)
	}
	hash, err := book.Hash()
	return book, hash, err
}

// pureLedger has room for epsilon 3 a unit.
func pureLedger(t *testing.T) *mechanism.Ledger { return openLedger(t, ledgerFile(t, 3)) }

func ledgerFile(t *testing.T, epsilon float64) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "ledger")
	if err := mechanism.CreateLedger(path, mechanism.Total{Kind: mechanism.Pure, Epsilon: epsilon}); err != nil {
		t.Fatal(err)
	}
	return path
}

func openLedger(t *testing.T, path string) *mechanism.Ledger {
	t.Helper()
	ledger, err := mechanism.OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	return ledger
}

func newClient(t *testing.T, version uint64, epsilon float64, budget mechanism.Budget, memory Memory) *Cells {
	t.Helper()
	book, hash := testBook(t, version)
	c, err := NewCells(book, CellsSettings{Codebook: hash, Epsilon: epsilon, Ledger: budget, NewUnits: true, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// named is a record that goes by a name and does not change.
func named(name string) RecordID {
	id, err := ByName(name, []float32{1})
	if err != nil {
		panic(err)
	}
	return id
}

// content is a record of one feature that is its content.
func content(x float32) RecordID {
	id, err := ByContent([]float32{x})
	if err != nil {
		panic(err)
	}
	return id
}

// firstKey is the key of the first release of a name.
func firstKey(c *Cells, name string) (Key, error) {
	s, err := c.look(named(name))
	return s.first, err
}

// remembered reports whether Ask would send what the memory holds.
func remembered(c *Cells, name string) (bool, error) {
	standing, err := c.Foresee(named(name))
	return standing == Remembered, err
}

func ask(t *testing.T, c *Cells, name string, x float64) []uint32 {
	t.Helper()
	request, err := c.Ask(named(name), []float64{x, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return request.Cells
}

// A payer releases a record once: again with another row, in another client, after
// the program was started again; and spent once. Another name, codebook or
// epsilon is another release.
func TestCellsAskedOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "memory")
	open := func() Memory {
		m, err := OpenFolder(folder)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	kept := NewMemory()
	for name, memory := range map[string]func() Memory{"volatile": func() Memory { return kept }, "folder": open} {
		ledger := pureLedger(t)
		first := ask(t, newClient(t, 1, 1, ledger, memory()), "a", 3)
		for _, x := range []float64{3, 500} {
			if again := ask(t, newClient(t, 1, 1, ledger, memory()), "a", x); !slices.Equal(again, first) {
				t.Errorf("%s: %v after %v", name, again, first)
			}
		}
		spent := func(unit string, want float64) {
			t.Helper()
			amount, err := ledger.Spent(mechanism.Unit{Kind: release.UnitRecord, Name: unit})
			if err != nil || amount.Pure.Float() != want {
				t.Errorf("%s: %s spent %v, want %g: %v", name, unit, amount, want, err)
			}
		}
		spent("a", 1)
		// The row is that of a, and nothing is shared with it.
		if b := ask(t, newClient(t, 1, 1, ledger, memory()), "b", 3); slices.Equal(b, first) {
			t.Errorf("%s: two records share a release", name)
		}
		spent("b", 1)
		ask(t, newClient(t, 2, 1, ledger, memory()), "a", 3)
		spent("a", 2)
		ask(t, newClient(t, 1, 0.5, ledger, memory()), "a", 3)
		spent("a", 2.5)
		// The budget is exhausted, and what was released stays free.
		if request, err := newClient(t, 3, 1, ledger, memory()).Ask(named("a"), []float64{3, 0}); !errors.Is(err, mechanism.ErrBudgetExceeded) || request != nil {
			t.Errorf("%s: %v, %v", name, request, err)
		}
		if again := ask(t, newClient(t, 1, 1, ledger, memory()), "a", 3); !slices.Equal(again, first) {
			t.Errorf("%s: %v after %v", name, again, first)
		}
	}
}

func TestCellsAskedAtOnce(t *testing.T) {
	ledger := pureLedger(t)
	folder, err := OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, 1, 1, ledger, folder)
	results := make([][]uint32, 16)
	var wait sync.WaitGroup
	for i := range results {
		wait.Go(func() {
			if request, err := c.Ask(named("a"), []float64{1, 1}); err == nil {
				results[i] = request.Cells
			}
		})
	}
	wait.Wait()
	for _, r := range results {
		if r == nil || !slices.Equal(r, results[0]) {
			t.Fatalf("%v and %v", r, results[0])
		}
	}
	if spent, err := ledger.Spent(mechanism.Unit{Kind: release.UnitRecord, Name: "a"}); err != nil || spent.Pure.Float() != 1 {
		t.Errorf("spent %v: %v", spent, err)
	}
}

func TestCellsPaidByClient(t *testing.T) {
	ledger := pureLedger(t)
	book, hash := testBook(t, 1)
	c, err := NewCells(book, CellsSettings{Codebook: hash, Epsilon: 2, Ledger: ledger, Client: "carol", NewUnits: true, Memory: NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, c, "a", 1)
	if _, err := c.Ask(named("b"), []float64{1, 1}); !errors.Is(err, mechanism.ErrBudgetExceeded) {
		t.Errorf("error %v", err)
	}
	if spent, err := ledger.Spent(mechanism.Unit{Kind: release.UnitClient, Name: "carol"}); err != nil || spent.Pure.Float() != 2 {
		t.Errorf("spent %v: %v", spent, err)
	}
}

// At a large epsilon the nearest centre is in the set.
func TestCellsNameTheNearest(t *testing.T) {
	c := newClient(t, 1, 60, mechanism.NoLedger, NewMemory())
	for _, x := range []float64{0, 7.2, 998.6} {
		if cells := ask(t, c, fmt.Sprint(x), x); !slices.Contains(cells, uint32(math.Round(x))) {
			t.Errorf("%g: %v", x, cells)
		}
	}
}

// A memory that is damaged is an error and not a reason to draw again.
func TestCellsDamagedMemory(t *testing.T) {
	ledger := pureLedger(t)
	memory := NewMemory()
	c := newClient(t, 1, 1, ledger, memory)
	other := newClient(t, 2, 1, mechanism.NoLedger, NewMemory())
	request, err := other.Ask(named("a"), []float64{1, 1})
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := request.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	paid := [releaseID]byte{7}
	if _, err := ledger.Reserve(mechanism.Unit{Kind: release.UnitRecord, Name: "b", New: true}, paid, mechanism.Spend{PureEpsilon: 0.1, Protects: mechanism.AnyData()}); err != nil {
		t.Fatal(err)
	}
	ofCells := func(cells ...uint32) []byte {
		message, err := (&wire.CellsRequest{Codebook: c.settings.Codebook, Cells: cells}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return append(paid[:], message...)
	}
	many := make([]uint32, c.subset.Size+1)
	for i := range many {
		many[i] = uint32(i)
	}
	for name, kept := range map[string][]byte{
		"short": []byte("garbage"), "garbage": append(paid[:], "garbage"...), "foreign": append(paid[:], foreign...),
		"another size": ofCells(many...), "a cell beyond": ofCells(append(many[:c.subset.Size-1], uint32(c.subset.Items))...),
	} {
		key, err := firstKey(c, name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.look(named(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := memory.Keep(key, append(s.tag[:], kept...)); err != nil {
			t.Fatal(err)
		}
		if request, err := c.Ask(named(name), []float64{1, 1}); !errors.Is(err, ErrMemory) || request != nil {
			t.Errorf("%s: %v, %v", name, request, err)
		}
		if spent, err := ledger.Spent(mechanism.Unit{Kind: release.UnitRecord, Name: name}); err != nil || spent.Pure.Float() != 0 {
			t.Errorf("%s: spent %v: %v", name, spent, err)
		}
	}
}

// failing has room for some messages.
type failing struct {
	Memory
	room int
}

func (f *failing) Keep(key Key, message []byte) ([]byte, error) {
	if f.room--; f.room < 0 {
		return nil, memoryError(errors.New("full"))
	}
	return f.Memory.Keep(key, message)
}

// A memory that is full before the spend costs nothing. One that is full after it has the
// set already, and the next call sends that.
func TestCellsFullMemory(t *testing.T) {
	for room := range 2 {
		ledger, memory := pureLedger(t), NewMemory()
		request, err := newClient(t, 1, 1, ledger, &failing{memory, room}).Ask(named("a"), []float64{1, 1})
		if !errors.Is(err, ErrMemory) || errors.Is(err, mechanism.ErrSpent) != (room > 0) || request != nil {
			t.Errorf("room for %d: %v, %v", room, request, err)
		}
		wantSpent(t, ledger, release.UnitRecord, "a", float64(room))
		ask(t, newClient(t, 1, 1, ledger, memory), "a", 1)
		wantSpent(t, ledger, release.UnitRecord, "a", 1)
	}
}

// A folder that cannot be written to is found out before anything is spent.
func TestCellsLostFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory")
	memory, err := OpenFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	ledger := pureLedger(t)
	c := newClient(t, 1, 1, ledger, memory)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	request, err := c.Ask(named("a"), []float64{1, 1})
	if !errors.Is(err, ErrMemory) || errors.Is(err, mechanism.ErrSpent) || request != nil {
		t.Errorf("%v, %v", request, err)
	}
	if spent, err := ledger.Spent(mechanism.Unit{Kind: release.UnitRecord, Name: "a"}); err != nil || spent.Pure.Float() != 0 {
		t.Errorf("spent %v: %v", spent, err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	ask(t, c, "a", 1)
	files, err := os.ReadDir(path)
	if err != nil || len(files) != 4 || files[0].Name() != "codebooks" || files[1].Name() != "key" || !strings.HasPrefix(files[2].Name(), "lock-") || !strings.HasSuffix(files[3].Name(), ".log") {
		t.Errorf("%v left, want the codebooks, the key, a lock and a log: %v", files, err)
	}
}

func TestCellsRefuseRecords(t *testing.T) {
	c := newClient(t, 1, 1, mechanism.NoLedger, NewMemory())
	for name, test := range map[string]struct {
		record RecordID
		row    []float64
		want   error
	}{
		"neither":  {RecordID{}, []float64{1, 1}, ErrRecord},
		"short":    {named("a"), []float64{1}, ErrRecord},
		"nan":      {named("a"), []float64{1, math.NaN()}, points.ErrNonFinite},
		"infinite": {named("a"), []float64{math.Inf(1), 0}, points.ErrNonFinite},
		"no row":   {content(1), nil, ErrRecord},
	} {
		if request, err := c.Ask(test.record, test.row); !errors.Is(err, test.want) || request != nil {
			t.Errorf("%s: %v, %v", name, request, err)
		}
	}
}

func TestNewCellsRefuses(t *testing.T) {
	book, hash := testBook(t, 1)
	good := CellsSettings{Codebook: hash, Epsilon: 1, Ledger: mechanism.NoLedger, Memory: NewMemory()}
	for name, c := range map[string]struct {
		book   *wire.Codebook
		change func(*CellsSettings)
		want   error
	}{
		"no book":    {nil, func(*CellsSettings) {}, wire.ErrCodebook},
		"bad book":   {&wire.Codebook{}, func(*CellsSettings) {}, wire.ErrMessage},
		"other hash": {book, func(s *CellsSettings) { s.Codebook[0]++ }, wire.ErrCodebook},
		"both":       {book, func(s *CellsSettings) { s.UnconfirmedCodebook = true }, mechanism.ErrParam},
		"unsure":     {&wire.Codebook{}, func(s *CellsSettings) { s.Codebook, s.UnconfirmedCodebook = wire.Hash{}, true }, wire.ErrMessage},
		"no epsilon": {book, func(s *CellsSettings) { s.Epsilon = 0 }, mechanism.ErrParam},
		"nan":        {book, func(s *CellsSettings) { s.Epsilon = math.NaN() }, mechanism.ErrParam},
		"no ledger":  {book, func(s *CellsSettings) { s.Ledger = nil }, mechanism.ErrLedger},
		"nil ledger": {book, func(s *CellsSettings) { s.Ledger = (*mechanism.Ledger)(nil) }, mechanism.ErrLedger},
		"no memory":  {book, func(s *CellsSettings) { s.Memory = nil }, ErrMemory},
	} {
		settings := good
		c.change(&settings)
		if _, err := NewCells(c.book, settings); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
}

// Without a hash the message says what there is to do.
func TestNewCellsAsksForAHash(t *testing.T) {
	book, _ := testBook(t, 1)
	_, err := NewCells(book, CellsSettings{Epsilon: 1, Ledger: mechanism.NoLedger, Memory: NewMemory()})
	if !errors.Is(err, wire.ErrCodebook) || !strings.Contains(err.Error(), "second path") || !strings.Contains(err.Error(), "UnconfirmedCodebook") {
		t.Error(err)
	}
}

// answerTo is an answer with three lists of which members are shared.
func answerTo(hash wire.Hash) (*wire.CellsRequest, *wire.CellsAnswer, *wire.Base) {
	request := &wire.CellsRequest{Codebook: hash, Cells: []uint32{1, 2, 5, 9}}
	const none = wire.Padding
	answer := &wire.CellsAnswer{
		Codebook: hash, Cells: slices.Clone(request.Cells), Length: 3, Dimension: 1,
		IDs:  []uint32{4, 5, none, 5, 7, 999, none, none, none, 4, none, none},
		Rows: []float32{40, 50, 0, 50, 70, 90, 0, 0, 0, 40, 0, 0},
	}
	return request, answer, &wire.Base{Codebook: hash, Dimension: 1, IDs: []uint32{5, 6}, Rows: []float32{50, 60}}
}

// newBase checks a base sample, which may be nil.
func newBase(t *testing.T, c *Cells, sample *wire.Base) *Base {
	t.Helper()
	if sample == nil {
		return nil
	}
	base, err := c.NewBase(sample)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func TestCellsRank(t *testing.T) {
	c := newClient(t, 1, 1, mechanism.NoLedger, NewMemory())
	request, answer, base := answerTo(c.settings.Codebook)
	for _, test := range []struct {
		base *wire.Base
		k    int
		want []Match
	}{
		{nil, 2, []Match{{5, 2}, {4, 8}}},
		{nil, 9, []Match{{5, 2}, {4, 8}, {7, 22}, {999, 42}}}, // never the padding, which is at 0
		{base, 3, []Match{{5, 2}, {4, 8}, {6, 12}}},
	} {
		got, err := c.Rank([]float64{48}, test.k, request, answer, newBase(t, c, test.base))
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("the %d nearest: %v, %v, want %v", test.k, got, err, test.want)
		}
	}
}

// What stands in rows of padding does not matter, were it the row itself.
func TestCellsRankWithoutPadding(t *testing.T) {
	c := newClient(t, 1, 1, mechanism.NoLedger, NewMemory())
	request, answer, sample := answerTo(c.settings.Codebook)
	base := newBase(t, c, sample)
	want, err := c.Rank([]float64{48}, 9, request, answer, base)
	if err != nil {
		t.Fatal(err)
	}
	for _, filler := range []float32{48, -1, math.MaxFloat32} {
		for i, id := range answer.IDs {
			if id == wire.Padding {
				answer.Rows[i] = filler
			}
		}
		if got, err := c.Rank([]float64{48}, 9, request, answer, base); err != nil || !slices.Equal(got, want) {
			t.Errorf("rows of padding %g: %v, %v, want %v", filler, got, err, want)
		}
	}
	answer.Rows[2] = float32(math.NaN())
	if got, err := c.Rank([]float64{48}, 9, request, answer, base); !errors.Is(err, wire.ErrMessage) || got != nil {
		t.Errorf("not finite: %v, %v", got, err)
	}
}

func TestCellsRankRefuses(t *testing.T) {
	c := newClient(t, 1, 1, mechanism.NoLedger, NewMemory())
	for name, test := range map[string]struct {
		change func(*wire.CellsRequest, *wire.CellsAnswer, *wire.Base)
		want   error
	}{
		"other book":      {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) { a.Codebook[0]++ }, ErrAnswer},
		"old request":     {func(r *wire.CellsRequest, _ *wire.CellsAnswer, _ *wire.Base) { r.Codebook[0]++ }, ErrAnswer},
		"other cells":     {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) { a.Cells[0]-- }, ErrAnswer},
		"row beyond":      {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) { a.IDs[5] = 1000 }, ErrAnswer},
		"not finite":      {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) { a.Rows[1] = float32(math.NaN()) }, wire.ErrMessage},
		"rows missing":    {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) { a.Rows = a.Rows[:3] }, wire.ErrMessage},
		"a list twice":    {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) { a.IDs[1] = 4 }, wire.ErrMessage},
		"base of another": {func(_ *wire.CellsRequest, _ *wire.CellsAnswer, b *wire.Base) { b.Codebook[0]++ }, ErrAnswer},
		"base not rising": {func(_ *wire.CellsRequest, _ *wire.CellsAnswer, b *wire.Base) { b.IDs[1] = 5 }, wire.ErrMessage},
		"base of other d": {func(_ *wire.CellsRequest, _ *wire.CellsAnswer, b *wire.Base) { b.Dimension, b.IDs = 2, b.IDs[:1] }, ErrAnswer},
		"other dimension": {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) {
			a.Dimension, a.Rows = 2, append(a.Rows, a.Rows...)
		}, ErrAnswer},
		"other length": {func(_ *wire.CellsRequest, a *wire.CellsAnswer, _ *wire.Base) {
			ids, rows := a.IDs, a.Rows
			a.IDs, a.Rows = nil, nil
			for i := range a.Cells { // one place more in each list
				list := ids[i*a.Length : (i+1)*a.Length]
				a.IDs = append(append(a.IDs, list...), wire.Padding)
				a.Rows = append(append(a.Rows, rows[i*a.Length:(i+1)*a.Length]...), 0)
			}
			a.Length++
		}, ErrAnswer},
		"base beyond":      {func(_ *wire.CellsRequest, _ *wire.CellsAnswer, b *wire.Base) { b.IDs[1] = 1000 }, ErrAnswer},
		"base padded":      {func(_ *wire.CellsRequest, _ *wire.CellsAnswer, b *wire.Base) { b.IDs[1] = wire.Padding }, wire.ErrMessage},
		"base row missing": {func(_ *wire.CellsRequest, _ *wire.CellsAnswer, b *wire.Base) { b.Rows = b.Rows[:1] }, wire.ErrMessage},
	} {
		request, answer, sample := answerTo(c.settings.Codebook)
		test.change(request, answer, sample)
		base, err := c.NewBase(sample)
		if strings.HasPrefix(name, "base") {
			if !errors.Is(err, test.want) || base != nil {
				t.Errorf("%s: %v, want %v", name, err, test.want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Rank([]float64{1}, 2, request, answer, base); !errors.Is(err, test.want) || got != nil {
			t.Errorf("%s: %v, %v, want %v", name, got, err, test.want)
		}
	}
	request, answer, sample := answerTo(c.settings.Codebook)
	if _, err := c.NewBase(nil); !errors.Is(err, ErrAnswer) {
		t.Errorf("no base: error %v", err)
	}
	// The base of one codebook does not go with another.
	other := newBase(t, c, sample)
	other.codebook[0]++
	if got, err := c.Rank([]float64{1}, 2, request, answer, other); !errors.Is(err, ErrAnswer) || got != nil {
		t.Errorf("base of another client: %v, %v", got, err)
	}
	if _, err := c.Rank([]float64{1}, 2, nil, answer, nil); !errors.Is(err, ErrAnswer) {
		t.Errorf("no request: error %v", err)
	}
	if _, err := c.Rank([]float64{1, 2}, 2, request, answer, nil); !errors.Is(err, ErrRecord) {
		t.Errorf("other row: error %v", err)
	}
	if _, err := c.Rank([]float64{1}, 0, request, answer, nil); !errors.Is(err, ErrRecord) {
		t.Errorf("k = 0: error %v", err)
	}
	if _, err := c.Rank([]float64{math.NaN()}, 1, request, answer, nil); !errors.Is(err, points.ErrNonFinite) || strings.Contains(err.Error(), "NaN") {
		t.Errorf("nan: error %v", err)
	}
}

func TestCellsTerms(t *testing.T) {
	terms, err := newClient(t, 1, 2, mechanism.NoLedger, NewMemory()).Terms()
	answer := wire.CellsAnswer{Cells: []uint32{1, 2, 3, 4}, Length: 3, Dimension: 1, IDs: slices.Repeat([]uint32{wire.Padding}, 12), Rows: make([]float32, 12)}
	frame, frameErr := answer.MarshalBinary()
	if frameErr != nil {
		t.Fatal(frameErr)
	}
	answer.Encoding, answer.Rows = wire.Int8, nil
	answer.Compact = wire.Compact{Anchors: make([]uint16, 12), Steps: make([]uint16, 12), Codes: make([]int8, 12)}
	compact, frameErr := answer.MarshalBinary()
	if frameErr != nil {
		t.Fatal(frameErr)
	}
	all := wire.AllRows{Dimension: 1, Rows: wire.Compact{Anchors: make([]uint16, 1000), Steps: make([]uint16, 1000), Codes: make([]int8, 1000)}}
	gallery, frameErr := all.MarshalBinary()
	if frameErr != nil {
		t.Fatal(frameErr)
	}
	e := 4 * math.Exp(2)
	want := Terms{
		Epsilon: 2, Cells: 1000, Size: 4, Inclusion: terms.Inclusion, Share: 0.012, Confirmed: true,
		Bytes: int64(len(frame)), CompactBytes: int64(len(compact)), AllRowsBytes: int64(len(gallery)),
	}
	if err != nil || terms != want || math.Abs(terms.Inclusion-e/(e+996)) > 1e-15 {
		t.Errorf("%+v, %v", terms, err)
	}
}

// A client without a second path has to say so, its terms repeat it, and beyond that
// it asks and remembers as any other.
func TestCellsUnconfirmed(t *testing.T) {
	memory := NewMemory()
	book, hash := testBook(t, 1)
	c, err := NewCells(book, CellsSettings{UnconfirmedCodebook: true, Epsilon: 1, Ledger: mechanism.NoLedger, Memory: memory})
	if err != nil {
		t.Fatal(err)
	}
	if terms, err := c.Terms(); err != nil || terms.Confirmed {
		t.Errorf("%+v, %v", terms, err)
	}
	request, err := c.Ask(named("a"), []float64{3, 0})
	if err != nil || request.Codebook != hash {
		t.Errorf("%v, %v", request, err)
	}
	if again := ask(t, newClient(t, 1, 1, mechanism.NoLedger, memory), "a", 3); !slices.Equal(again, request.Cells) {
		t.Errorf("%v once the codebook was confirmed, %v before", again, request.Cells)
	}
}

// Whoever changes a codebook after NewCells changes nothing for its client.
func TestCellsCopyTheirCodebook(t *testing.T) {
	book, hash := testBook(t, 1)
	c, err := NewCells(book, CellsSettings{Codebook: hash, Epsilon: 60, Ledger: mechanism.NoLedger, Memory: NewMemory()})
	if err != nil {
		t.Fatal(err)
	}
	before, err := c.Terms()
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(book.Centres) // the centres, in another order, and both coordinates
	book.Version, book.Rows, book.Size, book.Length, book.Dimension, book.Ranking = 9, 5, 1, 1, 1, 2
	book.Centres = book.Centres[:10]
	// At this epsilon the cell nearest to the row is named, as in TestCellsNameTheNearest.
	request, err := c.Ask(named("a"), []float64{7.2, 0.5})
	if err != nil || request.Codebook != hash || len(request.Cells) != 4 || !slices.Contains(request.Cells, 7) {
		t.Errorf("%v, %v", request, err)
	}
	if after, err := c.Terms(); err != nil || after != before {
		t.Errorf("%+v became %+v: %v", before, after, err)
	}
	asked, answer, sample := answerTo(hash)
	got, err := c.Rank([]float64{48}, 9, asked, answer, newBase(t, c, sample))
	if want := []Match{{5, 2}, {4, 8}, {6, 12}, {7, 22}, {999, 42}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
