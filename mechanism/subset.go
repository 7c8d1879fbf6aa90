package mechanism

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"

	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
)

// A Subset is w-subset selection: of m items, one of which is private, it
// reports a set of w. A set with the private item in it is r times as likely as
// a set without, so the item is reported with probability
//
//	p = w r / (w r + m - w),
//
// and the rest of the set is drawn uniformly from the others. For w = 1 this is
// randomised response.
//
// It is purely epsilon-private, whatever the item was computed from: a set z has
// the probability p/C(m-1, w-1) for the items in it and (1-p)/C(m-1, w) for all
// others, and the ratio of the two is p (m-w) / ((1-p) w) = r. Here r is a
// rational number a/2^256 with 1 <= r <= e^epsilon, below e^epsilon by a
// relative error under 2^-200, and sets are drawn with exactly the resulting
// probabilities.
type Subset struct {
	Items   int     // m, 2 to 2^20
	Size    int     // w, 1 to m-1
	Epsilon float64 // 1e-6 to 100
}

const maxItems = 1 << 20

// Check returns nil, or a *ParamError for the first field that is out of range.
func (s Subset) Check() error {
	if s.Items < 2 || s.Items > maxItems {
		return &ParamError{Field: "Items", Value: float64(s.Items), Allowed: "2 to 2^20"}
	}
	if s.Size < 1 || s.Size >= s.Items {
		return &ParamError{Field: "Size", Value: float64(s.Size), Allowed: "at least 1, below Items"}
	}
	return checkEpsilon(s.Epsilon)
}

// Inclusion returns p, the probability that the private item is reported,
// rounded to the nearest float64. The error is that of Check.
func (s Subset) Inclusion() (float64, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	p, _ := new(big.Rat).SetFrac(s.odds()).Float64()
	return p, nil
}

// odds returns p as a fraction of whole numbers, w a / (w a + (m-w) 2^256).
func (s Subset) odds() (favourable, all *big.Int) {
	favourable = expDown(s.Epsilon)
	favourable.Mul(favourable, big.NewInt(int64(s.Size)))
	all = new(big.Int).Lsh(big.NewInt(int64(s.Items-s.Size)), expDigits)
	return favourable, all.Add(all, favourable)
}

// A Selection is a released set.
type Selection struct {
	ID       [16]byte // identifies the release
	Sequence uint64   // the number the budget gave the spend, 0 for NoLedger
	Items    []int    // in rising order, which reveals nothing about the private one
}

// Select spends s.Epsilon, as a pure epsilon, from the budget of a unit and then
// reports a set for the private item, which is in 0 .. s.Items-1.
//
// The order is that of Privatize: everything is checked and entropy drawn first,
// then the budget writes the spend down, then the set is drawn. An error before
// the spend leaves the budget untouched; if only noting the hash of the set
// fails, the selection is returned with the error, which matches ErrSpent.
//
// Each call is a new spend, also for the same item. To answer several times for
// one record, keep the selection and send it again; Subset.Draw and Subset.Pay
// allow keeping it first.
//
// Errors are ErrParam, ErrLedger without a budget, ErrEntropy and the errors of
// the budget (such as ErrBudgetExceeded); none reveals the item. Select is safe
// for concurrent use. The amount drawn and the time taken do not depend on the
// item.
func (s Subset) Select(budget Budget, unit Unit, item int) (*Selection, error) {
	return selectSubset(budget, unit, s, item, system)
}

// selectSubset is Select with the source of randomness as a parameter.
func selectSubset(budget Budget, unit Unit, s Subset, item int, entropy io.Reader) (*Selection, error) {
	if err := unit.Check(budget); err != nil {
		return nil, err
	}
	secret, err := s.prepare(item, entropy)
	if err != nil {
		return nil, err
	}
	defer secret.forget()
	out := &Selection{ID: secret.id}
	receipt, err := spendFirst(budget, unit, out.ID, s.spend(), func() error {
		out.Items = s.draw(item, secret)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.commit(budget, receipt, out); err != nil {
		return out, err
	}
	return out, nil
}

// Draw draws a set for the private item and spends nothing. Nobody may see the set before
// Pay has paid for it. It is for callers who keep a set before they pay for it, so that a
// crash in between loses nothing: Paid reports later whether it was paid for. Errors are
// ErrParam and ErrEntropy; neither reveals the item.
func (s Subset) Draw(item int) (*Selection, error) {
	secret, err := s.prepare(item, system)
	if err != nil {
		return nil, err
	}
	defer secret.forget()
	return &Selection{ID: secret.id, Items: s.draw(item, secret)}, nil
}

// Pay spends s.Epsilon, as a pure epsilon, for a set that Draw has drawn, and notes its
// Sequence. The set may be sent only after Pay has returned nil. After an error Paid
// reports whether the set was paid for nevertheless. Errors are those of Select, and
// ErrParam for a set that Draw cannot have drawn.
func (s Subset) Pay(budget Budget, unit Unit, drawn *Selection) error {
	if err := unit.Check(budget); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return err
	}
	if drawn == nil || !s.possible(drawn.Items) {
		return fmt.Errorf("mechanism: not a set of %d of %d items: %w", s.Size, s.Items, ErrParam)
	}
	receipt, err := spendFirst(budget, unit, drawn.ID, s.spend(), func() error { return nil })
	if err != nil {
		return err
	}
	return s.commit(budget, receipt, drawn)
}

// possible reports whether items are w of m in rising order.
func (s Subset) possible(items []int) bool {
	if len(items) != s.Size || items[0] < 0 || items[len(items)-1] >= s.Items {
		return false
	}
	for i := range items[1:] {
		if items[i] >= items[i+1] {
			return false
		}
	}
	return true
}

// spend is the cost of a set.
func (s Subset) spend() Spend { return Spend{PureEpsilon: s.Epsilon, Protects: AnyData()} }

// prepare checks everything and draws entropy.
func (s Subset) prepare(item int, entropy io.Reader) (*secrets, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if item < 0 || item >= s.Items {
		return nil, fmt.Errorf("mechanism: the private item is not one of the %d: %w", s.Items, ErrParam)
	}
	return drawSecrets(entropy, 1, false)
}

// draw draws a set for the item.
func (s Subset) draw(item int, secret *secrets) (items []int) {
	noise.Stream(seedOf(secret.chunks, 0), func(words noise.Source) {
		favourable, all := s.odds()
		included := uint64(int64(belowBig(all, words).Cmp(favourable)) >> 63) // a mask: below
		items = s.fill(item, included, words)
	})
	return items
}

// commit notes the hash of a set that has been paid for.
func (s Subset) commit(budget Budget, receipt Receipt, out *Selection) error {
	out.Sequence = receipt.Sequence()
	if err := budget.Commit(receipt, s.hash(out.Items)); err != nil {
		return fmt.Errorf("mechanism: the hash of the selection is not in the ledger: %w: %w", err, ErrSpent)
	}
	return nil
}

// fill returns a set with or without the item, all of them equally likely. The others are
// numbered 1 .. m-1 by their distance from the item, in a circle, and w of them are drawn. To
// include the item, it replaces the first: the other w-1 are still a uniform choice. included
// is a mask, so that nothing but the set reveals whether the item is in it.
func (s Subset) fill(item int, included uint64, words noise.Source) []int {
	others := make([]int, s.Items-1)
	for i := range others {
		others[i] = i + 1
	}
	for i := range s.Size {
		j := i + int(noise.Below(uint64(len(others)-i), words))
		others[i], others[j] = others[j], others[i]
	}
	set := others[:s.Size:s.Size]
	set[0] = int(uint64(set[0]) &^ included)
	s.turn(set, item)
	return set
}

// turn adds the item to numbers below m, modulo m, and sorts them, in the same time for all
// numbers: the time of a remainder or of another sort would depend on the item.
func (s Subset) turn(set []int, item int) {
	slots := make([]sametime.Slot, len(set))
	for i, v := range set {
		sum := uint64(item + v)
		slots[i].Key = sum - uint64(s.Items)&^sametime.Less(sum, uint64(s.Items))
	}
	sametime.Sort(slots)
	for i, slot := range slots {
		set[i] = int(slot.Key)
	}
	clear(slots)
}

// belowBig returns a number in 0 .. n-1, all exactly equally likely, n > 0. It
// draws as many bits as n has until they are below n, at most twice on average.
func belowBig(n *big.Int, words noise.Source) *big.Int {
	size := n.BitLen()
	buffer := make([]byte, (size+63)/64*8)
	mask := new(big.Int).Lsh(big.NewInt(1), uint(size))
	mask.Sub(mask, big.NewInt(1))
	for x := new(big.Int); ; {
		for i := 0; i < len(buffer); i += 8 {
			binary.BigEndian.PutUint64(buffer[i:], words.Uint64())
		}
		if x.And(x.SetBytes(buffer), mask).Cmp(n) < 0 {
			return x
		}
	}
}

// hash returns the hash of a set that a ledger keeps: SHA-256 of a fixed text,
// m, w, epsilon and the items, 8 bytes each, little-endian.
func (s Subset) hash(items []int) [sha256.Size]byte {
	b := []byte("privatemail subset 1")
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Items))
	b = binary.LittleEndian.AppendUint64(b, uint64(s.Size))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.Epsilon))
	for _, item := range items {
		b = binary.LittleEndian.AppendUint64(b, uint64(item))
	}
	return sha256.Sum256(b)
}
