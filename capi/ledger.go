//go:build cgo

package main

// #include "shim.h"
import "C"

import (
	"encoding/json"
	"unsafe"

	"github.com/seed-64e14a55/privatemail/capi/internal/private"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

//export pmgo_ledger_create
func pmgo_ledger_create(path *C.char, total *C.pm_total) C.pm_status {
	return guard("pm_ledger_create", func() error {
		name, err := pathOf(path)
		if err != nil {
			return err
		}
		t, err := totalOf(total)
		if err != nil {
			return err
		}
		return mechanism.CreateLedger(name, t)
	})
}

// totalOf returns the total of a new ledger. Its fields have no default.
func totalOf(p *C.pm_total) (t mechanism.Total, err error) {
	if p == nil {
		return t, argument("total is NULL")
	}
	s, err := sized(p, unsafe.Sizeof(*p), "pm_total")
	if err != nil {
		return t, err
	}
	if err := checkFinite(mechanism.ErrParam, []numberField{{"epsilon", s.epsilon}, {"delta", s.delta}, {"pure_epsilon", s.pure_epsilon}}); err != nil {
		return t, err
	}
	kind, err := textOf(s.kind, "kind")
	if err != nil {
		return t, err
	}
	return private.Total(kind, float64(s.epsilon), float64(s.delta), float64(s.pure_epsilon))
}

//export pmgo_ledger_open
func pmgo_ledger_open(path, head *C.char, id *C.uintptr_t) C.pm_status {
	return guard("pm_ledger_open", func() error {
		if id == nil {
			return argument("ledger is NULL")
		}
		name, err := pathOf(path)
		if err != nil {
			return err
		}
		open := func() (*mechanism.Ledger, error) { return mechanism.OpenLedger(name) }
		if head != nil { // "" is not a head: it must not open the ledger in any state
			state, err := textOf(head, "head")
			if err != nil {
				return err
			}
			sequence, hash, err := mechanism.ParseHead(state)
			if err != nil {
				return err
			}
			open = func() (*mechanism.Ledger, error) { return mechanism.OpenLedgerAt(name, sequence, hash) }
		}
		l, err := open()
		if err != nil {
			return err
		}
		*id = C.uintptr_t(handles.add(l))
		return nil
	})
}

// ledgerJSON is the result of pm_ledger_describe.
type ledgerJSON struct {
	Kind        string      `json:"kind"`
	Epsilon     float64     `json:"epsilon"`
	Delta       float64     `json:"delta"`
	PureEpsilon float64     `json:"pure_epsilon"`
	Head        string      `json:"head"`
	Unit        *unitSpends `json:"unit,omitempty"`
}

// unitSpends is what a unit has spent and has left, in the pots of the ledger and as an epsilon
// at its delta.
type unitSpends struct {
	Kind      string   `json:"kind"`
	Epsilon   float64  `json:"epsilon_spent"`
	Spent     potsJSON `json:"spent"`
	Remaining potsJSON `json:"remaining"`
	// Protects says for which data sets these numbers hold, those that every spend protects:
	// "none" if there are none, "unknown" if the ledger has not recorded them.
	Protects  string         `json:"protects"`
	Subtotals []subtotalJSON `json:"subtotals,omitempty"` // if spends protect different ones
}

type subtotalJSON struct {
	Protects string   `json:"protects"` // "unknown" if the ledger has not recorded it
	Spends   int      `json:"spends"`
	Epsilon  float64  `json:"epsilon_spent"`
	Spent    potsJSON `json:"spent"`
}

type potsJSON struct {
	Rho  float64 `json:"rho"`
	Pure float64 `json:"pure"`
}

func potsOf(p mechanism.Pots) potsJSON { return potsJSON{p.Rho.Float(), p.Pure.Float()} }

//export pmgo_ledger_describe
func pmgo_ledger_describe(id C.uintptr_t, unit, unitKind, buffer *C.char, size C.size_t, needed *C.size_t) C.pm_status {
	return guard("pm_ledger_describe", func() error {
		l, done, err := use[*mechanism.Ledger](&handles, uintptr(id), "ledger")
		if err != nil {
			return err
		}
		defer done()
		t := l.Total()
		said := ledgerJSON{Kind: t.Kind.String(), Epsilon: t.Epsilon, Delta: t.Delta, PureEpsilon: t.PureEpsilon, Head: mechanism.FormatHead(l.Head())}
		if unit != nil {
			if said.Unit, err = spendsOf(l, unit, unitKind); err != nil {
				return err
			}
		}
		text, err := json.Marshal(said)
		if err != nil {
			return err
		}
		return giveText(text, buffer, size, needed)
	})
}

// spendsOf looks up a unit.
func spendsOf(l *mechanism.Ledger, name, kind *C.char) (*unitSpends, error) {
	named, err := textOf(name, "unit")
	if err != nil {
		return nil, err
	}
	kindName, err := textOf(kind, "unit_kind")
	if err != nil {
		return nil, err
	}
	u, err := private.Unit(named, kindName)
	if err != nil {
		return nil, err
	}
	b, err := l.Balance(u)
	if err != nil {
		return nil, err
	}
	out := &unitSpends{u.Kind, b.Epsilon, potsOf(b.Spent), potsOf(b.Remaining), mechanism.AllProtect(b.Kinds()...), nil}
	for _, part := range b.Subtotals {
		out.Subtotals = append(out.Subtotals, subtotalJSON{part.Protects.String(), part.Spends, part.Epsilon, potsOf(part.Spent)})
	}
	return out, nil
}

//export pmgo_ledger_free
func pmgo_ledger_free(id C.uintptr_t) C.pm_status {
	return guard("pm_ledger_free", func() error { return free[*mechanism.Ledger](&handles, uintptr(id), "ledger") })
}
