package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// rowsFile writes rows under a name, and returns p with them.
func (p place) rowsFile(t *testing.T, name string, rows ...[]float32) place {
	t.Helper()
	p.rows = filepath.Join(t.TempDir(), name)
	writeMatrix(t, p.rows, len(rows), galleryCols, slices.Concat(rows...))
	return p
}

// someRows returns rows of a seed.
func someRows(t *testing.T, n int, seed uint64) (rows [][]float32) {
	t.Helper()
	x, err := synth.Uniform(n, galleryCols, seed)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(x.Data, galleryCols))
}

// asked runs the command, and returns its last object and the sets that were sent.
func asked(t *testing.T, g *galleryService, args ...string) (r query.Report, sets [][]byte) {
	t.Helper()
	g.sent(t)
	stdout, _ := succeed(t, append(args, "-json", "-out", filepath.Join(t.TempDir(), "ids.npy"))...)
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	_, sets = g.sent(t)
	return r, sets
}

func wantReport(t *testing.T, r query.Report, spent, remembered, resent, changed, equal int) {
	t.Helper()
	if got, want := [...]int{r.Spent, r.Remembered, r.Resent, r.Changed, r.Equal}, [...]int{spent, remembered, resent, changed, equal}; got != want {
		t.Errorf("spent, remembered, resent, changed, equal are %v, want %v", got, want)
	}
}

// Equal rows are one record under any name of their file: they spend once, and get the same sets.
func TestQueryRecordsAreTheirContent(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 1)
	rows := someRows(t, 6, 5)
	r, first := asked(t, g, p.rowsFile(t, "features.npy", rows...).cells(g.address)...)
	wantReport(t, r, 6, 0, 0, 0, 0)
	for i := range 4 {
		r, sets := asked(t, g, p.rowsFile(t, fmt.Sprintf("file%d.npy", i), rows...).cells(g.address)...)
		wantReport(t, r, 0, 6, 0, 0, 0)
		if !reflect.DeepEqual(sets, first) {
			t.Errorf("file %d got other sets", i)
		}
	}
	backwards := slices.Clone(rows)
	slices.Reverse(backwards)
	_, moved := asked(t, g, p.rowsFile(t, "features.npy", backwards...).cells(g.address)...)
	if slices.Reverse(moved); !reflect.DeepEqual(moved, first) {
		t.Error("rows that have moved got other sets")
	}
	// Tomorrow's file of the same name has rows of its own.
	r, sets := asked(t, g, p.rowsFile(t, "features.npy", someRows(t, 6, 6)...).cells(g.address)...)
	wantReport(t, r, 6, 0, 0, 0, 0)
	if reflect.DeepEqual(sets, first) {
		t.Error("other rows got the sets of yesterday's")
	}
	if s := ledgerAt(t, p.ledger); len(s.Entries) != 12 || len(s.Balances) != 12 {
		t.Errorf("%d spends of %d records", len(s.Entries), len(s.Balances))
	}
}

// Equal rows of one file are one record: one spend, and the same set for all. Zeros are equal, and
// so is what is too small for float32.
func TestQueryEqualRows(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 1)
	minus, small := float32(math.Copysign(0, -1)), float32(math.SmallestNonzeroFloat32)
	p = p.rowsFile(t, "rows.npy", []float32{1, 2, 0, 4, 5, 6}, []float32{1, 2, minus, 4, 5, 6}, []float32{6, 5, 4, 3, 2, 1}, []float32{1, 2, small, 4, 5, 6}, []float32{1, 2, 0, 4, 5, 6})
	plan, _ := succeed(t, p.cells(g.address, "-dry-run")...)
	if !strings.Contains(plan, "would spend   2 records; 3 are remembered") || !strings.Contains(plan, "3 rows are equal to one before") {
		t.Error(plan)
	}
	r, sets := asked(t, g, p.cells(g.address)...)
	wantReport(t, r, 2, 3, 0, 0, 3)
	for i := range sets {
		if i != 2 && !bytes.Equal(sets[i], sets[0]) {
			t.Errorf("row %d has another set than the first", i)
		}
	}
	if len(sets) != 5 || len(ledgerAt(t, p.ledger).Entries) != 2 {
		t.Errorf("%d sets", len(sets))
	}
}

// wantNoWord wants a word in no message of a command.
func wantNoWord(t *testing.T, args []string, word string) {
	t.Helper()
	if _, _, stderr := call(args...); strings.Contains(stderr, word) {
		t.Error(stderr)
	}
}

// A record has one budget in a ledger, with whatever memory.
func TestQueryOneBudgetForAllMemories(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	for i, memory := range []string{"none", filepath.Join(t.TempDir(), "one"), "none"} { // 4, 8, and 12 of 10
		args := append(p.cells(g.address), "-sent", memory)
		if i < 2 {
			r, _ := asked(t, g, args...)
			wantReport(t, r, 2, 0, 0, 0, 0)
			continue
		}
		refuse(t, cli.Failed, args, "budget exceeded", "fits for 0", "nothing was spent")
	}
}

// A new row is refused without -new-units, and no message has a hash of it.
func TestQueryUnknownRow(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	args := slices.DeleteFunc(p.cells(g.address), func(s string) bool { return s == "-new-units" })
	refuse(t, cli.Failed, args, "row 1 has not spent from it", "add -new-units")
	wantNoWord(t, args, "content ")
}

// A name whose row has changed is refused, sent again or spends again, as -changed says.
func TestQueryChangedRows(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 1)
	monday, tuesday := someRows(t, 3, 1), someRows(t, 3, 2)
	tuesday[2] = monday[2]
	names := []string{"-names", textFile(t, "anna\nberta\ncarla\n")}
	run := func(rows [][]float32, more ...string) []string {
		return p.rowsFile(t, "rows.npy", rows...).cells(g.address, slices.Concat(names, more)...)
	}
	r, first := asked(t, g, run(monday)...)
	wantReport(t, r, 3, 0, 0, 0, 0)
	for _, more := range [][]string{nil, {"-dry-run"}} {
		refuse(t, cli.Failed, run(tuesday, more...), "line 1 and 1 more", "the row of the name has changed", "-changed resend", "-changed spend", "nothing was spent")
		wantNoWord(t, run(tuesday, more...), "anna")
	}
	if _, sets := g.sent(t); len(sets) > 3 {
		t.Error("a set was sent")
	}
	r, sets := asked(t, g, run(tuesday, "-changed", "resend")...)
	wantReport(t, r, 0, 1, 2, 0, 0)
	if !reflect.DeepEqual(sets, first) {
		t.Error("other sets were sent than before")
	}
	stdout, _ := succeed(t, run(tuesday, "-changed", "resend")...)
	if !strings.Contains(stdout, "spent         nothing; 1 records were remembered") || !strings.Contains(stdout, "2 rows were not released under their names: the last set of the name is sent again and spends nothing") {
		t.Error(stdout)
	}
	stdout, _ = succeed(t, run(tuesday, "-changed", "resend", "-json")...)
	for i, line := range strings.Split(stdout, "\n")[:3] {
		if strings.Contains(line, `"resent":true`) != (i < 2) {
			t.Error(line)
		}
	}
	for change, want := range map[string]string{"resend": "would spend   0 records; 1 are remembered and spend nothing\n              2 rows were not", "spend": "would spend   2 records; 1 are remembered and spend nothing\n              2 of those that spend are further rows"} {
		if plan, _ := succeed(t, run(tuesday, "-changed", change, "-dry-run")...); !strings.Contains(plan, want) {
			t.Error(plan)
		}
	}
	if n := len(ledgerAt(t, p.ledger).Entries); n != 3 {
		t.Errorf("%d spends before -changed spend", n)
	}
	r, next := asked(t, g, run(tuesday, "-changed", "spend")...)
	wantReport(t, r, 2, 1, 0, 2, 0)
	if !bytes.Equal(next[2], first[2]) {
		t.Error("a row that has not changed got another set")
	}
	for _, day := range []struct {
		rows [][]float32
		sets [][]byte
	}{{monday, first}, {tuesday, next}} {
		r, sets := asked(t, g, run(day.rows)...)
		wantReport(t, r, 0, 3, 0, 0, 0)
		if !reflect.DeepEqual(sets, day.sets) {
			t.Error("a row that is known got another set")
		}
	}
	s := ledgerAt(t, p.ledger)
	for name, want := range map[string]float64{"anna": 8, "berta": 8, "carla": 4} {
		if b, err := s.Balance(mechanism.Unit{Kind: release.UnitRecord, Name: name}); err != nil || b.Epsilon != want {
			t.Errorf("%s has spent %g: %v", name, b.Epsilon, err)
		}
	}
	refuse(t, cli.Failed, run(someRows(t, 3, 3), "-changed", "spend"), "budget exceeded", "3 of 3 records", "fits for 1")
}

// A name may stand at several lines of a file where -changed says what that means, or its rows are
// equal.
func TestQuerySeveralRowsOfAName(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 1)
	rows := someRows(t, 4, 1)
	rows[3] = rows[1]
	names := []string{"-names", textFile(t, "anna\nberta\nanna\nberta\n")}
	q := p.rowsFile(t, "rows.npy", rows...)
	refuse(t, cli.Failed, q.cells(g.address, names...), "lines 1 and 3 have the same name, and their rows differ", "-changed")
	wantNoWord(t, q.cells(g.address, names...), "anna")
	for change, want := range map[string][5]int{"resend": {2, 1, 1, 0, 1}, "spend": {3, 1, 0, 1, 1}} {
		q := newPlace(t, 1)
		q.rows = p.rowsFile(t, "rows.npy", rows...).rows
		args := q.cells(g.address, append(names, "-changed", change)...)
		var plan query.PlanReport
		stdout, _ := succeed(t, append(args, "-dry-run", "-json")...)
		if err := json.Unmarshal([]byte(stdout), &plan); err != nil {
			t.Fatal(err)
		}
		if got := [5]int{plan.New, plan.Remembered, plan.Resent, plan.Changed, plan.Equal}; got != want {
			t.Errorf("%s: planned %v, want %v", change, got, want)
		}
		r, sets := asked(t, g, args...)
		wantReport(t, r, want[0], want[1], want[2], want[3], want[4])
		if !bytes.Equal(sets[1], sets[3]) || change == "resend" && !bytes.Equal(sets[0], sets[2]) {
			t.Errorf("%s: other sets", change)
		}
		if n := len(ledgerAt(t, q.ledger).Entries); n != want[0] {
			t.Errorf("%s: %d spends", change, n)
		}
	}
}

func TestQueryChangedIsChecked(t *testing.T) {
	p := newPlace(t, 2)
	for _, c := range []struct {
		args  []string
		words string
	}{
		{p.cells("http://127.0.0.1:9", "-changed", "spend"), "-changed is about names"},
		{p.cells("http://127.0.0.1:9", "-names", textFile(t, "a\nb\n"), "-changed", "never"), "resend, spend"},
		{p.all("http://127.0.0.1:9", "-changed", "spend"), "nothing is spent"},
		{p.sealed("http://127.0.0.1:9", "-changed", "spend"), "no epsilon is spent"},
	} {
		refuse(t, cli.Usage, c.args, c.words)
	}
}

// releasedEarlier makes the ledger and the memory those of the program before a record was its
// content: row i of a file has been released as FILE:i.
func (p place) releasedEarlier(t *testing.T, g *galleryService, names ...string) (sets [][]byte) {
	t.Helper()
	ledger, err := mechanism.OpenLedger(p.ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	memory, err := client.OpenFolder(p.memory)
	if err != nil {
		t.Fatal(err)
	}
	book := g.cells.Codebook()
	if err := memory.Admit(g.hash, true); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		unit := mechanism.Unit{Kind: release.UnitRecord, Name: name, New: true}
		number := [16]byte{byte(i + 1)}
		if _, err := ledger.Reserve(unit, number, mechanism.Spend{PureEpsilon: 4, Protects: mechanism.AnyData()}); err != nil {
			t.Fatal(err)
		}
		payer, err := unit.Payer(ledger)
		if err != nil {
			t.Fatal(err)
		}
		key := append([]byte("privatemail cells 2"), payer[:]...)
		key = append(key, g.hash[:]...)
		key = binary.LittleEndian.AppendUint64(key, uint64(book.Cells()))
		key = binary.LittleEndian.AppendUint64(key, uint64(book.Size))
		key = binary.LittleEndian.AppendUint64(key, math.Float64bits(4))
		set, err := (&wire.CellsRequest{Codebook: g.hash, Cells: []uint32{uint32(i)}}).MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := memory.Keep(sha256.Sum256(append(key, name...)), append(number[:], set...)); err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	return sets
}

// A memory and a ledger from before a record was its content are refused with what can be done:
// nothing is spent again without a word.
func TestQueryEarlierMemory(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 3).rowsFile(t, "old.npy", someRows(t, 3, 1)...)
	old := p.releasedEarlier(t, g, "old.npy:0", "old.npy:1", "old.npy:2")
	for _, more := range [][]string{nil, {"-dry-run"}, {"-client", "me"}} {
		refuse(t, cli.Failed, p.cells(g.address, more...), "from before a record was its content", "-changed resend", "old.npy:0", "new folder for -sent", "nothing was spent")
	}
	elsewhere := p
	elsewhere.memory = filepath.Join(t.TempDir(), "memory")
	for _, more := range [][]string{nil, {"-dry-run"}} {
		refuse(t, cli.Failed, elsewhere.cells(g.address, more...), "3 records have spent from it under names such as old.npy:0", "would not be counted", "nothing was spent")
	}
	names := textFile(t, "old.npy:0\nold.npy:1\nold.npy:2\n")
	refuse(t, cli.Failed, p.cells(g.address, "-names", names), "released before rows were noted", "-changed resend", "nothing was spent")
	r, sets := asked(t, g, p.cells(g.address, "-names", names, "-changed", "resend")...)
	wantReport(t, r, 0, 0, 3, 0, 0)
	if !reflect.DeepEqual(sets, old) {
		t.Error("other sets were sent than before")
	}
	if n := len(ledgerAt(t, p.ledger).Entries); n != 3 {
		t.Errorf("%d spends", n)
	}
	r, sets = asked(t, g, p.cells(g.address, "-names", names, "-changed", "spend")...)
	wantReport(t, r, 3, 0, 0, 3, 0)
	r, again := asked(t, g, p.cells(g.address, "-names", names)...)
	wantReport(t, r, 0, 3, 0, 0, 0)
	if !reflect.DeepEqual(again, sets) {
		t.Error("other sets were sent than those that were paid for")
	}
	// A new ledger and a new folder go on, by content.
	fresh := newPlace(t, 1)
	fresh.rows = p.rows
	r, _ = asked(t, g, fresh.cells(g.address)...)
	wantReport(t, r, 3, 0, 0, 0, 0)
}

// The file of the memory's key is for its owner alone, and a run without it stops.
func TestQueryMemoryKey(t *testing.T) {
	g := startService(t)
	p := newPlace(t, 2)
	asked(t, g, p.cells(g.address)...)
	key := filepath.Join(p.memory, "key")
	info, err := os.Stat(key)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v", err)
	}
	if stdout, _ := succeed(t, "show", key); !strings.Contains(stdout, "keep it as private") {
		t.Error(stdout)
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, p.cells(g.address), "the file of its key is gone")
	if n := len(ledgerAt(t, p.ledger).Entries); n != 2 {
		t.Errorf("%d spends", n)
	}
}
