package mechanism

import (
	"crypto/sha256"
	"io"
	"math"
	"os"
)

// A Snapshot holds the contents of a ledger when it was read.
type Snapshot struct {
	// LedgerID was drawn when the ledger was created. Copies of a ledger share it.
	LedgerID [16]byte
	// Total is the budget of each unit, Whole the same as pots.
	Total Total
	Whole Pots
	// Sequence and Hash are those of Ledger.Head.
	Sequence uint64
	Hash     [sha256.Size]byte
	// Entries are the spends, in the order of the ledger.
	Entries []Entry
	// Balances are the balances of the units, in the order of their first
	// spends.
	Balances []Balance

	header *ledgerHeader
	places map[unitHash]int // in Balances
}

// An Entry is one spend.
type Entry struct {
	Sequence  uint64 // as in the release
	Unit      string // as in its Balance
	UnitKind  string // as in its Balance
	ReleaseID [16]byte
	Cost      Pots  // in the calculus of the ledger
	Spend     Spend // as requested; Protects is zero where none was noted
	Committed bool  // the hash of the release was noted
	// Sum is the SHA-256 of the binary form of the release, or the hash of a
	// selection; zero when it is not committed. A series has none.
	Sum [sha256.Size]byte
}

// ReadLedger verifies a ledger and lists it, without changing or locking it, so
// it works while another process spends. The errors are those of OpenLedger,
// except for ErrLocked.
func ReadLedger(path string) (*Snapshot, error) { return readSnapshot(path, nil) }

// ReadLedgerAt is ReadLedger for a ledger that must have gone through a state that
// Head reported earlier; see OpenLedgerAt.
func ReadLedgerAt(path string, sequence uint64, hash [sha256.Size]byte) (*Snapshot, error) {
	return readSnapshot(path, &pin{sequence: sequence, hash: hash})
}

// readSnapshot takes a nil pin for a ledger in any state.
func readSnapshot(path string, at *pin) (*Snapshot, error) {
	if _, err := regularFile(path); err != nil {
		return nil, err
	}
	opened, err := os.Open(path)
	if err != nil {
		return nil, ledgerFailure(err)
	}
	f := &namedFile{File: opened, path: path}
	defer f.Close()
	info, err := f.inPlace()
	if err != nil {
		return nil, ledgerFailure(err)
	}
	return snapshot(f, info.Size(), at)
}

func snapshot(f io.ReaderAt, size int64, at *pin) (*Snapshot, error) {
	out := &Snapshot{places: make(map[unitHash]int)}
	pending := make(map[uint64]int) // uncommitted entries by sequence
	state, _, err := readLedger(f, size, func(s *ledgerState, b *block) error {
		if err := at.visit(s, b); err != nil {
			return err
		}
		switch {
		case b == nil: // the header
		case b[0] == commitRecord:
			e := &out.Entries[pending[b.word(64)]]
			e.Committed, e.Sum = true, [sha256.Size]byte(b[32:])
			delete(pending, b.word(64))
		default:
			pending[b.word(8)] = len(out.Entries)
			cost, _ := s.header.total.Kind.cost(b) // it was checked
			out.addEntry(b, cost)
		}
		return nil
	})
	if err == nil {
		err = at.passedBy(state)
	}
	if err != nil {
		return nil, err
	}
	out.close(state)
	return out, nil
}

// addEntry adds a spend, and the balance of its unit if it is the unit's first.
func (s *Snapshot) addEntry(b *block, cost Pots) {
	unit := unitHash(b[32:])
	place, ok := s.places[unit]
	if !ok {
		place = len(s.Balances)
		s.places[unit] = place
		s.Balances = append(s.Balances, Balance{Unit: shortHash(unit), UnitKind: unitKinds[b[1]-1]})
	}
	protects, _ := decodeProtection(b[2:8]) // it was checked
	s.Entries = append(s.Entries, Entry{
		Sequence:  b.word(8),
		Unit:      s.Balances[place].Unit,
		UnitKind:  s.Balances[place].UnitKind,
		ReleaseID: [16]byte(b[16:]),
		Cost:      cost,
		Spend:     Spend{Epsilon: b.float(64), Delta: b.float(72), Rho: b.float(80), PureEpsilon: b.float(88), Protects: protects},
	})
}

// close fills in the last state of the ledger: its head, the total, and what each unit
// has spent.
func (s *Snapshot) close(state *ledgerState) {
	s.header = state.header
	s.LedgerID, s.Total, s.Whole = state.header.id, state.header.total, state.header.whole
	s.Sequence, s.Hash = state.sequence, state.sum
	known := make(map[Pots]float64) // many units have spent the same
	epsilonOf := func(spent Pots) float64 {
		epsilon, ok := known[spent]
		if !ok {
			epsilon = s.Total.epsilonOf(spent)
			known[spent] = epsilon
		}
		return epsilon
	}
	for unit, place := range s.places {
		s.Balances[place] = s.header.balance(unit, s.Balances[place].UnitKind, state.units[unit], epsilonOf)
	}
}

// Balance returns the balance of a unit. The error is ErrUnknownUnit for a unit
// that has spent nothing, and ErrParam for an invalid unit.
func (s *Snapshot) Balance(unit Unit) (Balance, error) {
	hash, _, err := s.header.hash(unit)
	if err != nil {
		return Balance{}, err
	}
	place, ok := s.places[hash]
	if !ok {
		return Balance{}, errUnknown(unit.Kind)
	}
	return s.Balances[place], nil
}

// EpsilonOf returns the epsilon of spends of one unit together, at the Delta of the total
// and rounded up; Ledger.EpsilonAt says when it holds, and for which pairs of data sets.
// Spends that do not fit the total also have an epsilon.
func (s *Snapshot) EpsilonOf(spends ...Pots) float64 {
	var sum Pots
	for _, spend := range spends {
		var ok bool
		if sum, ok = sum.add(spend); !ok {
			return math.Inf(1)
		}
	}
	if sum.within(s.Whole) {
		return s.Total.epsilonWithin(sum, s.Total.Delta)
	}
	return s.Total.Kind.epsilonAt(sum, s.Total.Delta)
}

// IsLedger reports whether the file at path begins like a ledger, sound or not.
// Programs that are about to replace a file should check this first.
func IsLedger(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false // opening a pipe would wait for its writer
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, len(ledgerMagic))
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == ledgerMagic
}
