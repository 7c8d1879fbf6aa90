package client

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// steps calls end ahead of one step: there is one before and one after each call of the
// memory and of the ledger.
type steps struct {
	left int
	end  func()
}

func (s *steps) step() {
	if s.left--; s.left == 0 {
		s.end()
	}
}

func stepped[T any](s *steps, call func() (T, error)) (T, error) {
	s.step()
	out, err := call()
	s.step()
	return out, err
}

// steppedMemory and steppedLedger do what they are made of, in steps.
type steppedMemory struct {
	*Folder
	*steps
}

func (m steppedMemory) Recall(key Key) ([]byte, error) {
	return stepped(m.steps, func() ([]byte, error) { return m.Folder.Recall(key) })
}

func (m steppedMemory) Ready() error {
	_, err := stepped(m.steps, func() (any, error) { return nil, m.Folder.Ready() })
	return err
}

func (m steppedMemory) Keep(key Key, message []byte) ([]byte, error) {
	return stepped(m.steps, func() ([]byte, error) { return m.Folder.Keep(key, message) })
}

// Lock has no step behind it: only a process that ends would give the lock up.
func (m steppedMemory) Lock(ctx context.Context, key Key) (func(), error) {
	m.step()
	return m.Folder.Lock(ctx, key)
}

func (m steppedMemory) Secret() (secret [secretSize]byte, older bool, err error) {
	m.step()
	defer m.step()
	return m.Folder.Secret()
}

type steppedLedger struct {
	mechanism.Budget
	*steps
}

func (l steppedLedger) Reserve(unit mechanism.Unit, id [16]byte, spend mechanism.Spend) (mechanism.Receipt, error) {
	return stepped(l.steps, func() (mechanism.Receipt, error) { return l.Budget.Reserve(unit, id, spend) })
}

func (l steppedLedger) Commit(r mechanism.Receipt, sum [sha256.Size]byte) error {
	_, err := stepped(l.steps, func() (any, error) { return nil, l.Budget.Commit(r, sum) })
	return err
}

func (l steppedLedger) Paid(id [16]byte) (bool, error) {
	return stepped(l.steps, func() (bool, error) { return l.Budget.Paid(id) })
}

// mostSteps is more than a release has; a run that ends before its last step was reached
// has seen all of them.
const mostSteps = 60

// wantOneSpend asks for a record when all is well: what is sent is paid for, once, and is
// what was sent before, if anything was.
func wantOneSpend(t *testing.T, ledgerPath, folder string, id RecordID, before []byte, what string) {
	t.Helper()
	wantSpends(t, ledgerPath, folder, id, before, 1, what)
}

// wantSpends is wantOneSpend for a unit that has released other rows as well.
func wantSpends(t *testing.T, ledgerPath, folder string, id RecordID, before []byte, spends float64, what string) {
	t.Helper()
	ledger, memory := openLedger(t, ledgerPath), openAgain(t, folder)
	defer ledger.Close()
	c := newClient(t, 1, 1, ledger, memory)
	c.settings.Changed = SpendChanged
	request, err := c.Ask(id, []float64{3, 0.5})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	message, err := request.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if before != nil && !bytes.Equal(before, message) {
		t.Errorf("%s: another set is sent than before", what)
	}
	s, err := c.look(id)
	if err != nil || s.own == nil || !s.own.kept {
		t.Fatalf("%s: the memory does not know what was sent: %v", what, err)
	}
	kept, err := memory.Recall(s.own.key)
	if err != nil || !bytes.Equal(kept[tagSize+releaseID:], message) {
		t.Fatalf("%s: the memory has another set than was sent: %v", what, err)
	}
	if paid, err := ledger.Paid([16]byte(kept[tagSize:])); err != nil || !paid {
		t.Errorf("%s: a set was sent that the ledger has not paid for: %v", what, err)
	}
	wantSpent(t, ledger, release.UnitRecord, id.unitName(), spends)
}

// crashing asks for a record and crashes at a step, unless the end comes first. It returns
// what was sent.
func crashing(t *testing.T, ledgerPath, folder string, id RecordID, at int) (sent []byte) {
	t.Helper()
	crash := errors.New("crash")
	s := &steps{left: at, end: func() { panic(crash) }}
	ledger := openLedger(t, ledgerPath)
	defer ledger.Close()
	defer func() {
		if r := recover(); r != nil && r != any(crash) {
			panic(r)
		}
	}()
	s.left = 0 // NewCells is no step
	c := newClient(t, 1, 1, steppedLedger{ledger, s}, steppedMemory{openAgain(t, folder), s})
	c.settings.Changed = SpendChanged
	s.left = at
	request, err := c.Ask(id, []float64{3, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if sent, err = request.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	return sent
}

// Two runs that crash one after the other, each at any of their steps, cost one spend, and
// nothing is sent that is not paid for: for a record by its content, by name, and for the second
// row of a name.
func TestCrashAtEveryStep(t *testing.T) {
	every := 3
	if !longtest.Wanted() {
		every = 7
	}
	for how, make := range map[string]func(i int) (first, id RecordID){
		"content": func(i int) (first, id RecordID) { return first, content(float32(i)) },
		"name":    func(i int) (first, id RecordID) { return first, named(fmt.Sprint("record ", i)) },
		"changed": func(i int) (first, id RecordID) {
			first = named(fmt.Sprint("record ", i))
			id = first
			id.content[0]++
			return first, id
		},
	} {
		ledger, folder := ledgerFile(t, 2), t.TempDir()
		// begin releases the first row of a name, if there is one, and returns the next.
		begin := func(i int) (id RecordID, before float64) {
			first, id := make(i)
			if first == (RecordID{}) {
				return id, 0
			}
			wantOneSpend(t, ledger, folder, first, nil, how)
			return id, 1
		}
		most := 0
		for sent := []byte(nil); sent == nil; { // how many steps there are
			most++
			id, _ := begin(-most)
			sent = crashing(t, ledger, folder, id, most)
		}
		if most < 10 || most > mostSteps {
			t.Fatalf("%s: %d steps", how, most)
		}
		for first := range most {
			for second := range most {
				if second%every != first%every {
					continue
				}
				i := (first+1)*100 + second + 1
				id, before := begin(i)
				what := fmt.Sprint(how, " ", i)
				if sent := crashing(t, ledger, folder, id, first+1); sent != nil && first+1 < most {
					t.Fatalf("%s: it did not crash", what)
				}
				wantSpends(t, ledger, folder, id, crashing(t, ledger, folder, id, second+1), before+1, what)
				if old, _ := make(i); old != (RecordID{}) { // its first row is remembered still
					wantSpends(t, ledger, folder, old, nil, before+1, what)
				}
			}
		}
	}
}

const childKill = "PRIVATEMAIL_TEST_CLIENT_KILL"

// beKilledChild lets the test binary be a process that kills itself at a step.
func beKilledChild() {
	at, err := strconv.Atoi(os.Getenv(childKill))
	if err != nil {
		return
	}
	s := &steps{left: at, end: func() {
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			p.Kill()
		}
		select {}
	}}
	ledger, err := mechanism.OpenLedger(os.Getenv(childLedger))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	memory, err := OpenFolder(os.Getenv(childFolder))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	book, hash, err := newTestBook(1)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	c, err := NewCells(book, CellsSettings{Codebook: hash, Epsilon: 1, Ledger: ledger, NewUnits: true, Memory: memory})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	c.settings.Ledger, c.settings.Memory = steppedLedger{ledger, s}, steppedMemory{memory, s}
	if _, err := c.Ask(named("record"), []float64{3, 0.5}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	os.Exit(0)
}

// A process that is killed at any step has lost nothing.
func TestKillAtEveryStep(t *testing.T) {
	for at := 1; at < mostSteps; at++ {
		ledger, folder := ledgerFile(t, 1), t.TempDir()
		out, err := childtest.Command(t, []string{childLedger + "=" + ledger, childFolder + "=" + folder, childKill + "=" + fmt.Sprint(at)}).Output()
		if len(out) > 0 {
			t.Fatalf("step %d: %s", at, out)
		}
		wantOneSpend(t, ledger, folder, named("record"), nil, fmt.Sprint("step ", at))
		if err == nil { // it has come to its end
			if at < 10 {
				t.Errorf("only %d steps", at)
			}
			return
		}
	}
	t.Error("no end of steps")
}

// unsure is a budget that writes a spend down, or does not, and says that it failed.
type unsure struct {
	*mechanism.Ledger
	writes bool
}

var errUnsure = errors.New("the line is down")

func (u unsure) Reserve(unit mechanism.Unit, id [16]byte, spend mechanism.Spend) (mechanism.Receipt, error) {
	if u.writes {
		if _, err := u.Ledger.Reserve(unit, id, spend); err != nil {
			return mechanism.Receipt{}, err
		}
	}
	return mechanism.Receipt{}, errUnsure
}

// A set whose spend was refused is not sent, however often it is asked for. One of which it
// is not known is sent once the ledger says that it is paid for, and is not paid for again.
func TestPendingIsNotSent(t *testing.T) {
	for _, writes := range []bool{false, true} {
		path, folder := ledgerFile(t, 1), t.TempDir()
		ledger := openLedger(t, path)
		c := newClient(t, 1, 1, unsure{ledger, writes}, openAgain(t, folder))
		for range 2 {
			if known, err := remembered(c, "a"); known || err != nil {
				t.Errorf("remembered before the spend: %v", err)
			}
			request, err := c.Ask(named("a"), []float64{1, 1})
			if request != nil || !errors.Is(err, errUnsure) {
				t.Errorf("the spend is not known, and %v was sent: %v", request, err)
			}
			if writes {
				break
			}
		}
		if known, err := remembered(c, "a"); known != writes || err != nil {
			t.Errorf("written down is %v, and remembered %v: %v", writes, known, err)
		}
		if err := ledger.Close(); err != nil {
			t.Fatal(err)
		}
		wantOneSpend(t, path, folder, named("a"), nil, fmt.Sprint("written ", writes))
	}
	// The budget does not suffice: nothing is sent in any run.
	path, folder := ledgerFile(t, 1), t.TempDir()
	for range 2 {
		ledger := openLedger(t, path)
		c := newClient(t, 1, 2, ledger, openAgain(t, folder))
		if request, err := c.Ask(named("a"), []float64{1, 1}); request != nil || !errors.Is(err, mechanism.ErrBudgetExceeded) {
			t.Errorf("%v, %v", request, err)
		}
		wantSpent(t, ledger, release.UnitRecord, "a", 0)
		ledger.Close()
	}
}

// A pending set that is damaged is an error, and nothing is drawn or spent in its place.
func TestPendingDamaged(t *testing.T) {
	for name, message := range map[string][]byte{"short": {1, 2, 3}, "no request": bytes.Repeat([]byte{7}, 80)} {
		ledger, memory := pureLedger(t), NewMemory()
		c := newClient(t, 1, 1, ledger, memory)
		key, err := firstKey(c, "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := memory.Keep(pendingKey(key), message); err != nil {
			t.Fatal(err)
		}
		if request, err := c.Ask(named("a"), []float64{1, 1}); request != nil || !errors.Is(err, ErrMemory) {
			t.Errorf("%s: %v, %v", name, request, err)
		}
		if known, err := remembered(c, "a"); known || !errors.Is(err, ErrMemory) {
			t.Errorf("%s: remembered %v, %v", name, known, err)
		}
		wantSpent(t, ledger, release.UnitRecord, "a", 0)
	}
}
