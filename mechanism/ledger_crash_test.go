package mechanism

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// smallLedger returns a ledger of reserves and commits for two units, and what
// each has spent after each record.
func smallLedger(t testing.TB) (data []byte, spent [][2]uint64) {
	t.Helper()
	l, d := newLedgerDisk(t, ledgerTotal)
	note := func() { spent = append(spent, [2]uint64{spentUnits(t, l, alice), spentUnits(t, l, bob)}) }
	note()
	for i := range 4 {
		unit := []Unit{alice, bob}[i%2]
		r := mustReserve(t, l, unit, i, Spend{Rho: float64(i+1) * 0x1p-96})
		note()
		if i != 1 {
			if err := l.Commit(r, [32]byte{byte(i), 1}); err != nil {
				t.Fatal(err)
			}
			note()
		}
	}
	return d.durable, spent
}

// A crash can leave any number of the bytes that were being written. Records
// that were complete count, the one at the end counts once its body is there,
// and the ledger goes on from there.
func TestLedgerCutAtEveryByte(t *testing.T) {
	data, spent := smallLedger(t)
	records := len(spent) - 1
	whole, _, err := load(data)
	if err != nil {
		t.Fatal(err)
	}
	_, hash := whole.Head()
	for n := range len(data) + 1 {
		l, d, err := load(data[:n])
		s, read := snapshot(&ledgerDisk{data: data[:n]}, int64(n), nil)
		if n < blockSize {
			if !errors.Is(err, ErrLedger) || !errors.Is(read, ErrLedger) {
				t.Fatalf("%d bytes: %v, %v", n, err, read)
			}
			continue
		}
		if err != nil || read != nil {
			t.Fatalf("%d bytes: %v, %v", n, err, read)
		}
		count := n/blockSize - 1
		if n%blockSize >= bodySize {
			count++
		}
		check := func(l *Ledger) {
			t.Helper()
			if got := [2]uint64{spentUnits(t, l, alice), spentUnits(t, l, bob)}; got != spent[count] {
				t.Fatalf("%d bytes: spent %v, want %v", n, got, spent[count])
			}
			if sequence, _ := l.Head(); sequence != uint64(count) {
				t.Fatalf("%d bytes: %d records, want %d", n, sequence, count)
			}
		}
		check(l)
		b, err := s.Balance(alice)
		if known := spent[count][0] > 0; known != (err == nil) || !known && !errors.Is(err, ErrUnknownUnit) || b.Spent.Rho.lo != spent[count][0] {
			t.Fatalf("%d bytes: read %v, %v", n, b, err)
		}
		// Only a head kept elsewhere distinguishes the cut from an older state.
		// The ledger is then refused before anything is mended.
		old := &ledgerDisk{data: slices.Clone(data[:n])}
		if _, err = loadLedger(old, int64(n), &pin{sequence: uint64(records), hash: hash}); (err == nil) != (count == records) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if err != nil && (!errors.Is(err, ErrLedger) || !bytes.Equal(old.data, data[:n])) {
			t.Fatalf("%d bytes: %v, or the file was changed", n, err)
		}
		// The mended ledger stays mended, and works like a new one.
		mended, _, err := load(d.data)
		if err != nil || len(d.data)%blockSize != 0 {
			t.Fatalf("%d bytes: mended to %d: %v", n, len(d.data), err)
		}
		check(mended)
		mustReserve(t, l, alice, 100, oneUnit)
		again, _, err := load(d.durable)
		if err != nil || spentUnits(t, again, alice) != spent[count][0]+1 {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

// Every granted spend is durable when Reserve returns, and at most one more is.
func TestLedgerIsDurableBeforeItReturns(t *testing.T) {
	l, d := newLedgerDisk(t, ledgerTotal)
	for i := range 20 {
		r := mustReserve(t, l, alice, i, oneUnit)
		after, _, err := load(d.durable)
		if err != nil || spentUnits(t, after, alice) != uint64(i+1) {
			t.Fatalf("spend %d: %v", i, err)
		}
		if err := l.Commit(r, [32]byte{}); err != nil {
			t.Fatal(err)
		}
		if sequence, _ := l.Head(); len(d.durable) != int(sequence+1)*blockSize {
			t.Fatalf("commit %d is not durable", i)
		}
	}
}

// After a failure of the disk the spend counts, all further ones are refused,
// and whichever part of it the disk kept, opening again finds everything that
// was granted.
func TestLedgerOnAFailingDisk(t *testing.T) {
	const granted = 3
	fail := func(t *testing.T, breakDisk func(*ledgerDisk), commit bool) *ledgerDisk {
		t.Helper()
		l, d := newLedgerDisk(t, ledgerTotal)
		var r Receipt
		for i := range granted {
			r = mustReserve(t, l, alice, i, oneUnit)
		}
		before, sum := l.Head()
		breakDisk(d)
		want := uint64(granted)
		if commit {
			if err := l.Commit(r, [32]byte{}); !errors.Is(err, ErrLedger) {
				t.Fatal(err)
			}
		} else {
			want++
			if _, err := l.Reserve(alice, releaseID(granted), oneUnit); !errors.Is(err, ErrLedger) {
				t.Fatal(err)
			}
		}
		*d = ledgerDisk{data: d.data, durable: d.durable} // healthy again
		size := len(d.data)
		for range 2 {
			if _, err := l.Reserve(bob, releaseID(50), oneUnit); !errors.Is(err, ErrLedger) {
				t.Fatal("spent from a broken ledger:", err)
			}
			if err := l.Commit(r, [32]byte{}); !errors.Is(err, ErrLedger) {
				t.Fatal("committed to a broken ledger:", err)
			}
			// Whether the last spend is on the disk is unknown: it does not count as paid.
			if paid, err := l.Paid(releaseID(granted)); paid || !errors.Is(err, ErrLedger) {
				t.Fatal("paid by a broken ledger:", err)
			}
		}
		if len(d.data) != size || spentUnits(t, l, alice) != want || spentUnits(t, l, bob) != 0 {
			t.Fatalf("%d bytes more, %d spent", len(d.data)-size, spentUnits(t, l, alice))
		}
		if s, h := l.Head(); s != before || h != sum {
			t.Fatal("the head is not on the disk")
		}
		return d
	}
	check := func(t *testing.T, data []byte) {
		t.Helper()
		l, _, err := load(data)
		if err != nil {
			t.Fatal(err)
		}
		if n := spentUnits(t, l, alice); n < granted || n > granted+1 {
			t.Fatalf("%d spent after %d were granted", n, granted)
		}
		if sequence, _ := l.Head(); sequence < granted {
			t.Fatalf("%d records", sequence)
		}
	}
	for _, commit := range []bool{false, true} {
		for room := range blockSize {
			for _, silent := range []bool{false, true} {
				d := fail(t, func(d *ledgerDisk) { d.limited, d.room, d.silent = true, room, silent }, commit)
				check(t, d.data)
				check(t, d.durable)
			}
		}
		d := fail(t, func(d *ledgerDisk) { d.syncError = errDisk }, commit)
		for n := len(d.durable); n <= len(d.data); n++ {
			check(t, d.data[:n])
		}
	}

	// Mending the end and reading can fail too.
	data, _ := smallLedger(t)
	for name, d := range map[string]*ledgerDisk{
		"complete":       {data: data[:len(data)-10], limited: true, room: 50},
		"complete, sync": {data: data[:len(data)-10], syncError: errDisk},
		"cut":            {data: data[:len(data)-100], truncateError: errDisk},
		"cut, sync":      {data: data[:len(data)-100], syncError: errDisk},
		"read":           {data: data, readError: errDisk},
	} {
		if l, err := loadLedger(d, int64(len(d.data)), nil); l != nil || !errors.Is(err, ErrLedger) || !errors.Is(err, errDisk) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const (
	ledgerChildMode = "PRIVATEMAIL_TEST_LEDGER_MODE"
	ledgerChildPath = "PRIVATEMAIL_TEST_LEDGER_PATH"
	ledgerChildFrom = "PRIVATEMAIL_TEST_LEDGER_FROM"
)

// TestMain lets the test binary be the other process of the tests below.
func TestMain(m *testing.M) {
	if mode := os.Getenv(ledgerChildMode); mode != "" {
		beLedgerChild(mode)
	}
	os.Exit(m.Run())
}

func beLedgerChild(mode string) {
	if mode == "create" {
		createLedgers(os.Getenv(ledgerChildPath))
	}
	l, err := OpenLedger(os.Getenv(ledgerChildPath))
	switch {
	case errors.Is(err, ErrLocked):
		fmt.Println("locked")
		os.Exit(0)
	case err != nil:
		fmt.Println(err)
		os.Exit(1)
	}
	switch mode {
	case "hold":
		fmt.Println("open")
		io.Copy(io.Discard, os.Stdin)
	case "spend":
		var id [16]byte
		copy(id[8:], os.Getenv(ledgerChildFrom))
		for i := uint64(0); ; i++ {
			binary.LittleEndian.PutUint64(id[:], i)
			if _, err := l.Reserve(alice, id, oneUnit); err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			os.Stdout.WriteString("granted\n")
		}
	}
	os.Exit(0)
}

func ledgerChild(t *testing.T, mode, path, from string) *childtest.Child {
	t.Helper()
	return childtest.Start(t, ledgerChildMode+"="+mode, ledgerChildPath+"="+path, ledgerChildFrom+"="+from)
}

func TestLedgerOfTwoProcesses(t *testing.T) {
	path := newLedgerFile(t, ledgerTotal)
	holder := ledgerChild(t, "hold", path, "")
	if !holder.Lines.Scan() || holder.Lines.Text() != "open" {
		t.Fatal(holder.Lines.Text(), holder.Lines.Err())
	}
	if _, err := OpenLedger(path); !errors.Is(err, ErrLocked) {
		t.Error(err)
	}
	if _, err := ReadLedger(path); err != nil {
		t.Error(err)
	}
	holder.In.Close()
	if err := holder.Wait(); err != nil {
		t.Fatal(err)
	}

	l := mustOpen(t, path)
	other := ledgerChild(t, "hold", path, "")
	if !other.Lines.Scan() || other.Lines.Text() != "locked" {
		t.Error(other.Lines.Text(), other.Lines.Err())
	}
	if err := other.Wait(); err != nil {
		t.Error(err)
	}
	mustReserve(t, l, alice, 0, oneUnit)
}

// A process that is killed while it spends has spent what it was granted, and
// at most one spend that it was waiting for.
func TestLedgerOfAKilledProcess(t *testing.T) {
	rounds := 50
	if !longtest.Wanted() {
		rounds = 5
	}
	path := newLedgerFile(t, ledgerTotal)
	r := rand.New(rand.NewPCG(rand.Uint64(), 0))
	before, most := uint64(0), 0
	for round := range rounds {
		child := ledgerChild(t, "spend", path, fmt.Sprintf("%08d", round))
		lines := child.Lines
		granted := uint64(0)
		if wait := r.IntN(12); wait > 0 {
			for range wait {
				if !lines.Scan() {
					break
				}
				granted++
			}
			time.Sleep(time.Duration(r.IntN(2000)) * time.Microsecond)
		} else {
			time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
		}
		child.Process.Kill()
		for lines.Scan() {
			granted++
			if lines.Text() != "granted" {
				t.Fatal(lines.Text())
			}
		}
		child.Wait() // returns that it was killed

		l, err := OpenLedger(path)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		after := spentUnits(t, l, alice)
		l.Close()
		if after < before+granted || after > before+granted+1 {
			t.Fatalf("round %d: %d granted, %d spent", round, granted, after-before)
		}
		before, most = after, max(most, int(granted))
	}
	t.Logf("%d spends in %d processes, at most %d in one", before, rounds, most)
}
