package mechanism

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

var (
	ledgerTotal = Total{Kind: GDP, Epsilon: 1, Delta: 1e-6}
	alice       = Unit{Kind: release.UnitRecord, Name: "alice@example.org", New: true}
	bob         = Unit{Kind: release.UnitClient, Name: "bob@example.org", New: true}
)

// oneUnit is the smallest possible spend, so that amounts count spends.
var oneUnit = said(Spend{Rho: 0x1p-96})

// said returns the spend with a Protection.
func said(s Spend) Spend {
	s.Protects = AnyRow(sensitivity.ReplaceOne, 1)
	return s
}

func releaseID(i int) (id [16]byte) {
	binary.LittleEndian.PutUint64(id[:], uint64(i)+1)
	return id
}

func newLedgerFile(t testing.TB, total Total) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "privacy.ledger")
	if err := CreateLedger(path, total); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustOpen(t testing.TB, path string) *Ledger {
	t.Helper()
	l, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func mustReserve(t testing.TB, l *Ledger, u Unit, i int, s Spend) Receipt {
	t.Helper()
	if !s.Protects.known() {
		s = said(s)
	}
	r, err := l.Reserve(u, releaseID(i), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func spentUnits(t testing.TB, l *Ledger, u Unit) uint64 {
	t.Helper()
	a, err := l.Spent(u)
	if err != nil || a.Rho.hi != 0 {
		t.Fatal(a, err)
	}
	return a.Rho.lo
}

// A ledgerDisk is a file in memory that shows what would survive a power cut,
// and fails on demand.
type ledgerDisk struct {
	data, durable []byte
	room          int  // bytes that can still be written, if limited
	limited       bool // fails when the room is used up
	silent        bool // and does not say so
	syncError     error
	readError     error
	truncateError error
}

var errDisk = errors.New("disk failure")

func (d *ledgerDisk) ReadAt(p []byte, off int64) (int, error) {
	if d.readError != nil {
		return 0, d.readError
	}
	return bytes.NewReader(d.data).ReadAt(p, off)
}

func (d *ledgerDisk) WriteAt(p []byte, off int64) (n int, err error) {
	n = len(p)
	if d.limited && n > d.room {
		n = d.room
		if !d.silent {
			err = errDisk
		}
	}
	d.room -= n
	if n > 0 {
		if missing := int(off) + n - len(d.data); missing > 0 {
			d.data = append(d.data, make([]byte, missing)...)
		}
		copy(d.data[off:], p[:n])
	}
	return n, err
}

func (d *ledgerDisk) Sync() error {
	if d.syncError != nil {
		return d.syncError
	}
	d.durable = slices.Clone(d.data)
	return nil
}

func (d *ledgerDisk) Truncate(size int64) error {
	if d.truncateError != nil {
		return d.truncateError
	}
	d.data = d.data[:size]
	return nil
}

func (d *ledgerDisk) Close() error { return nil }

// load opens the bytes of a ledger.
func load(data []byte) (*Ledger, *ledgerDisk, error) {
	d := &ledgerDisk{data: slices.Clone(data)}
	l, err := loadLedger(d, int64(len(data)), nil)
	return l, d, err
}

func newLedgerDisk(t testing.TB, total Total) (*Ledger, *ledgerDisk) {
	t.Helper()
	h, err := newLedgerHeader(total)
	if err != nil {
		t.Fatal(err)
	}
	l, d, err := load(h.encode()[:])
	if err != nil {
		t.Fatal(err)
	}
	d.durable = slices.Clone(d.data)
	return l, d
}

func TestLedger(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	if info, err := os.Stat(path); err != nil || info.Size() != blockSize || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	l := mustOpen(t, path)
	whole, err := l.Remaining(alice)
	if err != nil || l.Total() != ledgerTotal {
		t.Fatal(err, l.Total())
	}

	spend := said(Spend{Epsilon: 0.5, Delta: 1e-6})
	first := mustReserve(t, l, alice, 0, spend)
	second := mustReserve(t, l, bob, 1, Spend{Rho: 0.001, PureEpsilon: 0.1})
	if first.Sequence() != 1 || second.Sequence() != 2 {
		t.Error(first, second)
	}
	sum := sha256.Sum256([]byte("the release"))
	if err := l.Commit(first, sum); err != nil {
		t.Fatal(err)
	}

	check := func(l *Ledger) {
		t.Helper()
		price, _ := GDP.Price(spend)
		spent, err := l.Spent(alice)
		if err != nil || spent != price {
			t.Error(spent, price, err)
		}
		left, err := l.Remaining(alice)
		if err != nil || left != whole.minus(price) {
			t.Error(left, err)
		}
		if e, err := l.EpsilonAt(alice, 1e-6); err != nil || !amountsAgree(e, 0.5, 1e-11) {
			t.Error(e, err)
		}
		if spent, err := l.Spent(bob); err != nil || !amountsAgree(spent.Rho.Float(), 0.001+0.0078511742707244098, 1e-11) {
			t.Error(spent, err)
		}
		// The same name as another kind of unit is another unit.
		if spent, err := l.Spent(Unit{Kind: release.UnitClient, Name: alice.Name, New: true}); err != nil || spent != (Pots{}) {
			t.Error(spent, err)
		}
	}
	check(l)
	sequence, hash := l.Head()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	check(l)
	again := mustOpen(t, path)
	check(again)
	if s, h := again.Head(); s != 3 || s != sequence || h != hash {
		t.Error("head changed")
	}

	s, err := ReadLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Total != ledgerTotal || s.Whole != whole || s.Sequence != 3 || s.Hash != hash || len(s.Entries) != 2 || len(s.Balances) != 2 {
		t.Fatalf("%+v", s)
	}
	if e := s.Entries[0]; e.Sequence != 1 || e.ReleaseID != releaseID(0) || e.Spend != spend || !e.Committed || e.Sum != sum || e.Unit != s.Balances[0].Unit {
		t.Errorf("%+v", e)
	}
	if e := s.Entries[1]; e.Sequence != 2 || e.Committed || e.Unit == s.Entries[0].Unit {
		t.Errorf("%+v", e)
	}
	for i, u := range []Unit{alice, bob} {
		b, err := s.Balance(u)
		spent, _ := again.Spent(u)
		left, _ := again.Remaining(u)
		epsilon, _ := again.EpsilonAt(u, 1e-6)
		if err != nil || !reflect.DeepEqual(b, s.Balances[i]) || b.UnitKind != u.Kind || b.Spent != spent || b.Remaining != left || b.Epsilon != epsilon {
			t.Errorf("%+v, %v", b, err)
		}
	}
	if b, err := s.Balance(Unit{Kind: release.UnitRecord, Name: "carol", New: true}); !errors.Is(err, ErrUnknownUnit) {
		t.Error(b, err)
	}
	if _, err := s.Balance(Unit{}); !errors.Is(err, ErrParam) {
		t.Error(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || bytes.Contains(data, []byte("example")) {
		t.Error("a name is in the file", err)
	}
}

func TestLedgerRefuses(t *testing.T) {
	l, _ := newLedgerDisk(t, ledgerTotal)
	receipt := mustReserve(t, l, alice, 0, Spend{Epsilon: 0.9, Delta: 1e-6})
	before, _ := l.Head()

	_, err := l.Reserve(alice, releaseID(1), said(Spend{Epsilon: 0.9, Delta: 1e-6}))
	var b *BudgetError
	if !errors.Is(err, ErrBudgetExceeded) || !errors.As(err, &b) {
		t.Fatal(err)
	}
	left, _ := l.Remaining(alice)
	if b.UnitKind != release.UnitRecord || b.Total != ledgerTotal || b.Remaining != left || b.Asked.within(left) {
		t.Errorf("%+v", b)
	}
	want := "mechanism: privacy budget of the record exceeded: asked rho 0.0230363 (alone epsilon 0.9), remaining rho 0.00497816 (alone epsilon 0.39593) of epsilon 1 at delta 1e-06 (gdp)"
	if err.Error() != want || strings.Contains(err.Error(), "alice") {
		t.Errorf("%q, want %q", err, want)
	}
	if _, err := l.Reserve(bob, releaseID(0), oneUnit); !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), "paid for") {
		t.Error("release id used twice:", err)
	}
	if _, err := l.Reserve(bob, releaseID(2), said(Spend{})); !errors.Is(err, ErrParam) {
		t.Error(err)
	}
	for _, u := range []Unit{{}, {Kind: release.UnitRecord}, {Kind: "person", Name: "alice"}} {
		_, reserve := l.Reserve(u, releaseID(2), oneUnit)
		_, spent := l.Spent(u)
		_, remaining := l.Remaining(u)
		_, epsilon := l.EpsilonAt(u, 1e-6)
		for _, err := range []error{reserve, spent, remaining, epsilon} {
			if !errors.Is(err, ErrParam) || strings.Contains(err.Error(), "alice") {
				t.Errorf("%+v: %v", u, err)
			}
		}
	}
	for _, delta := range []float64{0, 1, -1e-6} {
		if _, err := l.EpsilonAt(alice, delta); !errors.Is(err, ErrParam) {
			t.Error(delta, err)
		}
	}
	foreign, _ := NoLedger.Reserve(alice, releaseID(0), oneUnit)
	for name, r := range map[string]Receipt{"zero": {}, "of no ledger": foreign, "of another id": {sequence: 1, id: releaseID(9)}} {
		if err := l.Commit(r, [32]byte{}); !errors.Is(err, ErrLedger) {
			t.Errorf("receipt %s: %v", name, err)
		}
	}
	if after, _ := l.Head(); after != before {
		t.Error("refusals were written")
	}
	if err := l.Commit(receipt, [32]byte{}); err != nil {
		t.Error(err)
	}
	if err := l.Commit(receipt, [32]byte{}); !errors.Is(err, ErrLedger) {
		t.Error("committed twice:", err)
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := l.Reserve(bob, releaseID(3), oneUnit); !errors.Is(err, ErrLedger) || !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if err := l.Commit(receipt, [32]byte{}); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

// Values not made by this package are refused, and nothing panics.
func TestZeroLedger(t *testing.T) {
	l := new(Ledger)
	_, reserve := l.Reserve(alice, releaseID(0), oneUnit)
	_, spent := l.Spent(alice)
	_, remaining := l.Remaining(alice)
	_, epsilon := l.EpsilonAt(alice, 1e-6)
	_, pure := l.EpsilonAt(alice, 0)
	_, selected := Subset{Items: 5, Size: 1, Epsilon: 1}.Select(l, alice, 2)
	_, balance := new(Snapshot).Balance(alice)
	for i, err := range []error{
		reserve, l.Covers(alice, oneUnit), l.Commit(Receipt{}, [32]byte{}), spent, remaining, epsilon, pure, selected, balance,
	} {
		if !errors.Is(err, ErrLedger) {
			t.Errorf("%d: %v", i, err)
		}
	}
	if n, hash := l.Head(); n != 0 || hash != ([32]byte{}) || l.Total() != (Total{}) {
		t.Errorf("head %d %x, total %+v", n, hash, l.Total())
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestLedgerIsABudget(t *testing.T) {
	l, _ := newLedgerDisk(t, ledgerTotal)
	var b Budget = l
	r, err := b.Reserve(alice, releaseID(0), oneUnit)
	if err != nil || r.Sequence() != 1 {
		t.Fatal(r, err)
	}
	if err := b.Commit(r, [32]byte{}); err != nil {
		t.Fatal(err)
	}
}

// A whole budget in one release fits, and after it nothing does.
func TestLedgerTakesTheWholeBudget(t *testing.T) {
	for _, c := range []struct {
		total Total
		whole Spend
		least Spend
	}{
		{ledgerTotal, Spend{Epsilon: 1, Delta: 1e-6}, oneUnit},
		{Total{Kind: ZCDP, Epsilon: 1, Delta: 1e-6}, Spend{Rho: 0.0243}, Spend{PureEpsilon: 0.1}},
		{Total{Kind: Pure, Epsilon: 2, Delta: 0}, Spend{PureEpsilon: 2}, Spend{PureEpsilon: 1e-300}},
		{Total{Kind: Mixed, Epsilon: 2, Delta: 1e-6, PureEpsilon: 1}, Spend{Epsilon: 1, Delta: 1e-6, PureEpsilon: 1}, Spend{PureEpsilon: 1e-300}},
	} {
		l, _ := newLedgerDisk(t, c.total)
		mustReserve(t, l, alice, 0, c.whole)
		if _, err := l.Reserve(alice, releaseID(1), said(c.least)); !errors.Is(err, ErrBudgetExceeded) || err.Error() == "" {
			t.Errorf("%v: %v", c.total, err)
		}
		e, err := l.EpsilonAt(alice, c.total.Delta)
		if err != nil || e > c.total.Epsilon || e < 0.9*c.total.Epsilon {
			t.Errorf("%v: epsilon %g, %v", c.total, e, err)
		}
	}
	pure, _ := newLedgerDisk(t, Total{Kind: Pure, Epsilon: 2, Delta: 0})
	_, err := pure.Reserve(alice, releaseID(0), said(Spend{PureEpsilon: 2.5}))
	if want := "mechanism: privacy budget of the record exceeded: asked pure epsilon 2.5, remaining pure epsilon 2 of epsilon 2 (pure)"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestLedgerComposition(t *testing.T) {
	for _, c := range compositions {
		for _, kind := range []Kind{GDP, ZCDP} {
			l, _ := newLedgerDisk(t, Total{Kind: kind, Epsilon: 20, Delta: 1e-6})
			for i := range c.times {
				mustReserve(t, l, alice, i, Spend{Epsilon: c.epsilon, Delta: c.delta})
			}
			want := c.gdp
			if kind == ZCDP {
				want = c.zcdp
			}
			if e, err := l.EpsilonAt(alice, c.at); err != nil || !amountsAgree(e, want, 1e-11) {
				t.Errorf("%v, %+v: %.15g, %v", kind, c, e, err)
			}
		}
	}
}

func TestCreateLedger(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	before, _ := os.ReadFile(path)
	if err := CreateLedger(path, ledgerTotal); !errors.Is(err, ErrLedger) || !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("a ledger was replaced")
	}
	folder := filepath.Dir(path)
	if err := CreateLedger(filepath.Join(folder, "b"), Total{}); !errors.Is(err, ErrParam) {
		t.Error(err)
	}
	if err := CreateLedger(filepath.Join(folder, "no", "c"), ledgerTotal); !errors.Is(err, ErrLedger) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Error("a refused ledger left a file:", entries)
	}
	// Ids and keys differ.
	other := newLedgerFile(t, ledgerTotal)
	if data, _ := os.ReadFile(other); bytes.Equal(data[16:32], before[16:32]) || bytes.Equal(data[32:64], before[32:64]) {
		t.Error("two ledgers are alike")
	}
}

func TestOpenLedgerOfSomethingElse(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	write := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(at(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h, _ := newLedgerHeader(ledgerTotal)
	header := h.encode()[:]
	write("good", header)
	write("empty", nil)
	write("short", header[:100])
	write("text", []byte("budget: 1\n"))
	write("long text", bytes.Repeat([]byte("budget: 1\n"), 100))
	write("sparse", header)
	if err := os.Truncate(at("sparse"), 1<<40); err != nil {
		t.Log("no sparse file of a terabyte:", err)
	}
	if err := os.Mkdir(at("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"missing":   "",
		"empty":     "empty file",
		"short":     "incomplete header",
		"text":      "not a ledger",
		"long text": "not a ledger",
		"sparse":    "damaged record 1",
		"folder":    "not a regular file",
	}
	if err := os.Symlink(at("good"), at("link")); err == nil {
		want["link"] = "symbolic link"
	}
	for name, text := range want {
		_, open := OpenLedger(at(name))
		_, read := ReadLedger(at(name))
		for _, err := range []error{open, read} {
			if !errors.Is(err, ErrLedger) || !strings.Contains(err.Error(), text) || errors.Is(err, fs.ErrNotExist) != (name == "missing") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := os.Lstat(at("missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("opening made a file")
	}
}

func TestLedgerIsLocked(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	l := mustOpen(t, path)
	if _, err := OpenLedger(path); !errors.Is(err, ErrLocked) {
		t.Fatal(err)
	}
	if _, err := ReadLedger(path); err != nil {
		t.Error(err)
	}
	l.Close()
	mustOpen(t, path)
}

func TestOpenLedgerAt(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	type head struct {
		sequence uint64
		hash     [32]byte
	}
	var heads []head
	note := func(l *Ledger) {
		s, h := l.Head()
		heads = append(heads, head{s, h})
	}
	l := mustOpen(t, path)
	note(l)
	for i := range 3 {
		mustReserve(t, l, alice, i, oneUnit)
		note(l)
	}
	l.Close()
	for _, h := range heads {
		l, err := OpenLedgerAt(path, h.sequence, h.hash)
		if err != nil {
			t.Fatal(h.sequence, err)
		}
		l.Close()
		if _, err := ReadLedgerAt(path, h.sequence, h.hash); err != nil {
			t.Fatal(h.sequence, err)
		}
	}
	data, _ := os.ReadFile(path)
	if err := os.WriteFile(path, data[:len(data)-blockSize], 0o600); err != nil { // the copy of yesterday
		t.Fatal(err)
	}
	if _, err := OpenLedgerAt(path, heads[3].sequence, heads[3].hash); !errors.Is(err, ErrLedger) {
		t.Error("old copy:", err)
	}
	if _, err := ReadLedgerAt(path, heads[3].sequence, heads[3].hash); !errors.Is(err, ErrLedger) {
		t.Error("old copy:", err)
	}
	l = mustOpen(t, path) // it is free again, and is spent differently
	mustReserve(t, l, bob, 7, oneUnit)
	l.Close()
	if _, err := OpenLedgerAt(path, heads[3].sequence, heads[3].hash); !errors.Is(err, ErrLedger) {
		t.Error("old copy, used:", err)
	}
	if _, err := OpenLedgerAt(newLedgerFile(t, ledgerTotal), 0, heads[0].hash); !errors.Is(err, ErrLedger) {
		t.Error("another ledger:", err)
	}
}

// The hashes have no key. Anyone who edits the file can compute them again, and only a
// head that was kept elsewhere shows it.
func TestEditedLedger(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	l := mustOpen(t, path)
	mustReserve(t, l, alice, 0, Spend{Rho: 0.01})
	mustReserve(t, l, bob, 1, oneUnit)
	sequence, hash := l.Head()
	l.Close()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	blocks := []*block{(*block)(data), (*block)(data[blockSize:]), (*block)(data[2*blockSize:])}
	blocks[1].setAmount(48, Amount{0, 1}) // alice has spent almost nothing
	for i, b := range blocks[1:] {
		b.setSum(b.chain(blocks[i].sum()))
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	l = mustOpen(t, path)
	if got := spentUnits(t, l, alice); got != 1 {
		t.Errorf("%d units spent", got)
	}
	l.Close()
	if _, err := OpenLedgerAt(path, sequence, hash); !errors.Is(err, ErrLedger) {
		t.Error(err)
	}
	if _, err := ReadLedgerAt(path, sequence, hash); !errors.Is(err, ErrLedger) {
		t.Error(err)
	}
}

// Spends written after the file lost its name would be lost.
func TestLedgerMovedAway(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be moved there")
	}
	for _, replace := range []bool{false, true} {
		path := newLedgerFile(t, ledgerTotal)
		old, _ := os.ReadFile(path)
		l := mustOpen(t, path)
		mustReserve(t, l, alice, 0, oneUnit)
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
		if replace {
			if err := os.WriteFile(path, old, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for i := 1; i < 3; i++ {
			if _, err := l.Reserve(alice, releaseID(i), oneUnit); !errors.Is(err, ErrLedger) {
				t.Error(err)
			}
		}
	}
}

func TestReadLedgerWhileItIsSpentFrom(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	l := mustOpen(t, path)
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		defer close(stop)
		for i := range 50 {
			r, err := l.Reserve(alice, releaseID(i), oneUnit)
			if err == nil {
				err = l.Commit(r, [32]byte{1})
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	last := uint64(0)
	for reading := true; reading; {
		select {
		case <-stop:
			reading = false
		default:
		}
		s, err := ReadLedger(path)
		if err != nil {
			t.Error(err)
			break
		}
		if s.Sequence < last {
			t.Errorf("went back from %d to %d", last, s.Sequence)
			break
		}
		last = s.Sequence
	}
	done.Wait()
	if last != 100 {
		t.Errorf("last seen: %d", last)
	}
}

func TestParallelSpends(t *testing.T) {
	const workers = 64
	t.Run("room for one", func(t *testing.T) {
		l := mustOpen(t, newLedgerFile(t, ledgerTotal))
		var granted, refused atomic.Int32
		var done sync.WaitGroup
		for i := range workers {
			done.Go(func() {
				switch _, err := l.Reserve(alice, releaseID(i), said(Spend{Epsilon: 0.8, Delta: 1e-6})); {
				case err == nil:
					granted.Add(1)
				case errors.Is(err, ErrBudgetExceeded):
					refused.Add(1)
				}
			})
		}
		done.Wait()
		if granted.Load() != 1 || refused.Load() != workers-1 {
			t.Errorf("%d granted, %d refused", granted.Load(), refused.Load())
		}
	})
	t.Run("one release id", func(t *testing.T) {
		l, _ := newLedgerDisk(t, ledgerTotal)
		var granted atomic.Int32
		var done sync.WaitGroup
		for range workers {
			done.Go(func() {
				if _, err := l.Reserve(alice, releaseID(0), oneUnit); err == nil {
					granted.Add(1)
				}
			})
		}
		done.Wait()
		if granted.Load() != 1 {
			t.Errorf("%d granted", granted.Load())
		}
	})
	t.Run("random units", func(t *testing.T) {
		const units, each = 10, 40
		l, d := newLedgerDisk(t, ledgerTotal)
		var granted [units]atomic.Int32
		var done sync.WaitGroup
		for w := range workers {
			done.Go(func() {
				r := rand.New(rand.NewPCG(uint64(w), 1))
				for i := range each {
					u := r.IntN(units)
					unit := Unit{Kind: release.UnitRecord, Name: string(rune('a' + u)), New: true}
					receipt, err := l.Reserve(unit, releaseID(w*each+i), said(Spend{Epsilon: 0.1, Delta: 1e-6}))
					if err == nil {
						granted[u].Add(1)
						err = l.Commit(receipt, [32]byte{})
					}
					if err != nil && !errors.Is(err, ErrBudgetExceeded) {
						t.Error(err)
					}
					if _, err := l.EpsilonAt(unit, 1e-6); err != nil {
						t.Error(err)
					}
				}
			})
		}
		done.Wait()
		again, _, err := load(d.durable)
		if err != nil {
			t.Fatal(err)
		}
		price, _ := GDP.Price(Spend{Epsilon: 0.1, Delta: 1e-6})
		whole, _ := ledgerTotal.pots()
		room := new(Pots)
		fit := int32(0)
		for { // how many fit
			next, _ := room.add(price)
			if !next.within(whole) {
				break
			}
			*room = next
			fit++
		}
		for u := range units {
			unit := Unit{Kind: release.UnitRecord, Name: string(rune('a' + u)), New: true}
			spent, _ := again.Spent(unit)
			if granted[u].Load() != fit || spent != *room {
				t.Errorf("unit %d: %d granted, %d fit, %v spent", u, granted[u].Load(), fit, spent)
			}
		}
	})
}

// A unit's hash is the same only for the same unit in the same ledger.
func TestUnitHashes(t *testing.T) {
	one, _ := newLedgerHeader(ledgerTotal)
	two, _ := newLedgerHeader(ledgerTotal)
	seen := make(map[unitHash]bool)
	for _, h := range []*ledgerHeader{one, two} {
		for _, u := range []Unit{alice, bob, {Kind: release.UnitClient, Name: alice.Name, New: true}, {Kind: release.UnitRecord, Name: alice.Name + "\x00", New: true}} {
			hash, _, err := h.hash(u)
			if again, _, _ := h.hash(u); err != nil || seen[hash] || again != hash {
				t.Error(u, err)
			}
			seen[hash] = true
		}
	}
}

func BenchmarkOpenLedger(b *testing.B) {
	const spends, units = 500_000, 1000
	l, d := newLedgerDisk(b, ledgerTotal)
	d.data = slices.Grow(d.data, 2*spends*blockSize)
	l.file = unsyncedDisk{d}
	for i := range spends {
		name := [2]byte{byte(i % units), byte(i % units >> 8)}
		r := mustReserve(b, l, Unit{Kind: release.UnitRecord, Name: string(name[:]), New: true}, i, oneUnit)
		if err := l.Commit(r, [32]byte{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2*spends, "records")
	for b.Loop() {
		if _, err := loadLedger(l.file, int64(len(d.data)), nil); err != nil {
			b.Fatal(err)
		}
	}
}

type unsyncedDisk struct{ *ledgerDisk }

func (unsyncedDisk) Sync() error { return nil }
