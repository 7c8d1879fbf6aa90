package mechanism

import (
	"errors"
	"testing"
)

// For any bytes, a ledger is opened or refused; an open ledger can be spent
// from, never beyond its total, and opens again.
func FuzzLedger(f *testing.F) {
	data, _ := smallLedger(f)
	f.Add(data, false)
	f.Add(data[:len(data)-20], true)
	f.Add(data[:len(data)-60], true)
	f.Add(append(data[:len(data):len(data)], make([]byte, 100)...), false)
	f.Add([]byte(ledgerMagic), false)
	f.Add([]byte{}, false)
	f.Fuzz(func(t *testing.T, data []byte, sealed bool) {
		if sealed && len(data) >= blockSize { // get past the hashes
			data = seal(append([]byte(nil), data...))
		}
		s, read := snapshot(&ledgerDisk{data: data}, int64(len(data)), nil)
		l, d, err := load(data)
		if (err == nil) != (read == nil) {
			t.Fatalf("opened: %v, read: %v", err, read)
		}
		if err != nil {
			if !errors.Is(err, ErrLedger) || !errors.Is(read, ErrLedger) {
				t.Fatal(err, read)
			}
			return
		}
		sequence, hash := l.Head()
		if s.Sequence != sequence || s.Hash != hash || s.Total != l.Total() || uint64(len(s.Entries)) > sequence {
			t.Fatal("open and read differ")
		}
		for _, b := range s.Balances {
			if sum, ok := b.Spent.add(b.Remaining); !ok || sum != s.Whole {
				t.Fatalf("%+v", b)
			}
		}
		spend := Spend{Rho: 0.001}
		if l.Total().Kind == Pure {
			spend = Spend{PureEpsilon: 0.1}
		}
		_, err = l.Reserve(alice, [16]byte{15: 1}, said(spend))
		if err != nil && !errors.Is(err, ErrOtherRelation) && !errors.Is(err, ErrBudgetExceeded) && !errors.Is(err, ErrLedger) {
			t.Fatal(err)
		}
		again, _, err := load(d.data)
		if err != nil {
			t.Fatal(err)
		}
		one, _ := l.Spent(alice)
		two, _ := again.Spent(alice)
		if one != two {
			t.Fatalf("spent %v, then %v", one, two)
		}
	})
}
