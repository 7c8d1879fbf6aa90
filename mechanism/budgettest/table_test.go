package budgettest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// A database is shared by several machines: its contents outlive each of them.
type database struct {
	mutex   sync.Mutex
	number  [16]byte
	total   mechanism.Total
	spent   map[string][]byte // Spent as JSON, by unit
	spends  map[[16]byte]uint64
	commits map[uint64][sha256.Size]byte
	prices  map[[16]byte]mechanism.Spend // of the spends
	count   uint64                       // of numbers given, where a fault counts separately
	crowded map[[16]byte]bool            // spends made while others waited
	inside  atomic.Int32                 // callers of Reserve
}

// A table is a budget in a database, written outside package mechanism. A fault is
// a promise that the table breaks.
type table struct {
	db    *database
	fault string
	crowd *crowd
	way   way
}

// A way is the state that one machine keeps to itself under some faults.
type way struct {
	second bool
	paid   map[[16]byte]bool
	done   map[uint64]bool
}

func newWay(second bool) way {
	return way{second: second, paid: map[[16]byte]bool{}, done: map[uint64]bool{}}
}

// shared is a second access to the table.
func (t *table) shared() *table {
	return &table{db: t.db, fault: t.fault, crowd: t.crowd, way: newWay(true)}
}

func newTable(total mechanism.Total, fault string) *table {
	if _, err := total.Charge(mechanism.Unit{Kind: "record", Name: "x"}, mechanism.Spent{}, mechanism.Spend{PureEpsilon: 1e-9, Protects: protected}); err != nil {
		panic(err)
	}
	t := &table{
		db: &database{
			number: newID(), total: total, spent: map[string][]byte{}, spends: map[[16]byte]uint64{}, commits: map[uint64][sha256.Size]byte{},
			prices: map[[16]byte]mechanism.Spend{}, crowded: map[[16]byte]bool{},
		},
		fault: fault, crowd: newCrowd(), way: newWay(false),
	}
	switch fault {
	case "number zero":
		t.db.number = [16]byte{}
	case "number shared":
		t.db.number = [16]byte{1}
	}
	return t
}

func (t *table) key(unit mechanism.Unit) string {
	if t.fault == "kinds share" {
		return unit.Name
	}
	if t.fault == "units share" {
		return unit.Kind
	}
	return unit.Kind + " " + unit.Name
}

// charged returns the spend that a faulty table charges in place of another.
func (t *table) charged(spend mechanism.Spend) mechanism.Spend {
	switch {
	case t.fault == "one price" && spend.PureEpsilon > 0 && spend.PureEpsilon < 100:
		return cases[t.db.total.Kind].spend
	case t.fault == "noise is free" && spend.Rho > 0 && spend.PureEpsilon > 0:
		spend.Rho = 0
	case t.fault == "labels are free" && spend.Rho > 0 && spend.PureEpsilon > 0:
		spend.PureEpsilon = 0
	}
	return spend
}

// charge returns what the unit has spent after a spend, or why it is refused.
func (t *table) charge(unit mechanism.Unit, spend mechanism.Spend) ([]byte, error) {
	text, known := t.db.spent[t.key(unit)]
	var spent mechanism.Spent
	if known {
		if err := json.Unmarshal(text, &spent); err != nil {
			return nil, err
		}
	}
	after, err := t.db.total.Charge(unit, spent, t.charged(spend))
	switch {
	case err == nil && t.fault == "notes no relation":
		after.Protects = protected
	case err == nil && t.fault == "notes the last relation":
		after.Protects = spend.Protects
	case err == nil && t.fault == "notes the first relation" && known:
		after.Protects = spent.Protects
	case errors.Is(err, mechanism.ErrOtherRelation) && t.fault == "any relation will do":
		unit.OtherRelation = true
		after, err = t.db.total.Charge(unit, spent, spend)
	case errors.Is(err, mechanism.ErrBudgetExceeded) && t.fault == "overspends":
		after, err = spent, nil
	case errors.Is(err, mechanism.ErrBudgetExceeded) && t.fault == "gives back on a refusal":
		delete(t.db.spent, t.key(unit))
	case errors.Is(err, mechanism.ErrParam) && t.fault == "takes bad input":
		after, err = spent, nil
	case errors.Is(err, mechanism.ErrParam) && t.fault == "gives back on bad input":
		delete(t.db.spent, t.key(unit))
	case err == nil && t.fault == "refuses the last":
		_, err = t.db.total.Charge(unit, after, mechanism.Spend{PureEpsilon: 0.01, Protects: spend.Protects})
	case err != nil && t.fault == "names units":
		err = fmt.Errorf("%s: %w", unit.Name, err)
	}
	if err == nil && !known && !unit.New && t.fault != "every unit is known" {
		err = fmt.Errorf("table: %w", mechanism.ErrUnknownUnit)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(after)
}

func (t *table) Reserve(unit mechanism.Unit, id [16]byte, spend mechanism.Spend) (mechanism.Receipt, error) {
	defer t.db.inside.Add(-1)
	if t.db.inside.Add(1) > 1 || t.fault == "forgets crowds" && t.crowd.wait() {
		t.db.mutex.Lock()
		t.db.crowded[id] = true
		t.db.mutex.Unlock()
	}
	t.db.mutex.Lock()
	defer t.db.mutex.Unlock()
	after, err := t.charge(unit, spend)
	if err != nil {
		return mechanism.Receipt{}, err
	}
	if t.fault == "decides before it writes" {
		t.wait()
	}
	other := t.fault == "ids pay twice for another spend" && t.db.prices[id] != spend
	if _, used := t.db.spends[id]; used && t.fault != "ids pay twice" && !other {
		return mechanism.Receipt{}, fmt.Errorf("table: %w: the id is used", mechanism.ErrLedger)
	}
	if t.fault == "ids decided before they are written" {
		t.wait()
	}
	sequence := uint64(len(t.db.spends)) + 1
	t.way.paid[id] = true
	if t.fault == "ways count receipts apart" {
		sequence = uint64(len(t.way.paid))
	}
	t.db.spent[t.key(unit)], t.db.spends[id], t.db.prices[id] = after, sequence, spend
	if t.fault == "numbers decided before they are written" {
		sequence = t.db.count + 1
		t.wait()
		t.db.count, t.db.spends[id] = sequence, sequence
	}
	switch t.fault {
	case "receipts without a number":
		sequence = 0
	case "receipts with one number":
		sequence = 7
	case "receipts for another release":
		id = newID()
	}
	return mechanism.NewReceipt(sequence, id), nil
}

// wait lets other callers in between a decision and writing it.
func (t *table) wait() {
	t.db.mutex.Unlock()
	t.crowd.wait()
	t.db.mutex.Lock()
}

func (t *table) Commit(r mechanism.Receipt, sum [sha256.Size]byte) error {
	t.db.mutex.Lock()
	defer t.db.mutex.Unlock()
	if t.fault == "gives back on a commit" {
		clear(t.db.spent)
	}
	if t.fault == "receipts with one number" {
		return nil
	}
	if sequence, known := t.db.spends[r.ReleaseID()]; (!known || sequence != r.Sequence()) && t.fault != "takes foreign receipts" {
		if t.fault == "gives back on a foreign receipt" {
			clear(t.db.spent)
		}
		return fmt.Errorf("table: %w: not a receipt of it", mechanism.ErrLedger)
	}
	_, done := t.db.commits[r.Sequence()]
	if t.fault == "ways commit apart" {
		done = t.way.done[r.Sequence()]
	}
	t.way.done[r.Sequence()] = true
	if done && t.fault != "commits twice" {
		return fmt.Errorf("table: %w: committed", mechanism.ErrLedger)
	}
	t.db.commits[r.Sequence()] = sum
	return nil
}

func (t *table) Paid(id [16]byte) (bool, error) {
	t.db.mutex.Lock()
	defer t.db.mutex.Unlock()
	sequence, known := t.db.spends[id]
	_, committed := t.db.commits[sequence]
	switch t.fault {
	case "everything is paid":
		return true, nil
	case "paid when committed":
		return committed, nil
	case "ways know their own spends":
		return t.way.paid[id], nil
	}
	return known, nil
}

func (t *table) LedgerID(unit mechanism.Unit) ([16]byte, error) {
	t.db.mutex.Lock()
	defer t.db.mutex.Unlock()
	if t.fault == "number drawn again" {
		return newID(), nil
	}
	if t.fault == "ways have their own number" && t.way.second {
		return [16]byte{2}, nil
	}
	return t.db.number, nil
}

func (t *table) Covers(unit mechanism.Unit, spend mechanism.Spend) error {
	t.db.mutex.Lock()
	defer t.db.mutex.Unlock()
	after, err := t.charge(unit, spend)
	switch {
	case t.fault == "covers everything":
		return nil
	case t.fault == "covers at a price" && err == nil:
		t.db.spent[t.key(unit)] = after
	}
	return err
}

// reopened is the table after a kill.
func (t *table) reopened() *table {
	next := &table{db: t.db, fault: t.fault, crowd: newCrowd(), way: newWay(false)}
	switch t.fault {
	case "forgets":
		next = newTable(t.db.total, t.fault)
		next.db.number = t.db.number
	case "forgets what is not committed":
		for id, sequence := range t.db.spends {
			if _, done := t.db.commits[sequence]; !done {
				delete(t.db.spends, id)
			}
		}
		clear(t.db.spent)
	case "forgets ids":
		clear(t.db.spends)
	case "forgets crowds":
		for id := range t.db.crowded {
			delete(t.db.spends, id)
		}
	case "forgets its number":
		next.db.number = newID()
	}
	return next
}

// A crowd lets callers continue together. A single caller continues after a
// while.
type crowd struct{ meet chan struct{} }

func newCrowd() *crowd { return &crowd{meet: make(chan struct{})} }

// wait reports whether another caller came.
func (c *crowd) wait() bool {
	select {
	case c.meet <- struct{}{}:
	case <-c.meet:
	case <-time.After(20 * time.Millisecond):
		return false
	}
	return true
}
