package client

import (
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// Changed says what becomes of a name whose row is another than those it was released with.
type Changed int

const (
	// RefuseChanged returns ErrChanged.
	RefuseChanged Changed = iota
	// ResendChanged sends what was released last for the name, and spends nothing. It was drawn
	// for another row: the server learns nothing of the new one, except that it is not one of those
	// before the last where there are several, and the neighbours that come are those of the old
	// one, as far as rows differ.
	ResendChanged
	// SpendChanged releases the new row, which the budget of the name pays for. That a row of
	// the name is new shows: a set comes that was not sent before.
	SpendChanged
)

// A Standing is what Ask would do for a record.
type Standing int

const (
	// Fresh: nothing was released for the record. Ask spends.
	Fresh Standing = iota
	// Remembered: the memory holds what was released for this row. Ask spends nothing.
	Remembered
	// Resent: the name has another row than before, and ResendChanged. Ask spends nothing.
	Resent
	// Again: the name has another row than before, and SpendChanged. Ask spends.
	Again
)

// Foresee reports what Ask would do for a record. It neither spends nor releases anything. Errors
// are ErrChanged, ErrRecord, ErrMemory, ErrEarlierNames and those of mechanism.Unit.Payer.
func (c *Cells) Foresee(id RecordID) (Standing, error) {
	s, err := c.look(id)
	if err != nil {
		return 0, err
	}
	set, err := s.choose(c.settings.Changed)
	switch {
	case err != nil:
		return 0, err
	case s.own != nil:
		return Remembered, nil
	case set != nil:
		return Resent, nil
	case s.last != nil:
		return Again, nil
	}
	return Fresh, nil
}

// Unit returns who pays for a record: the record, or the client of the settings. The name of a
// record that is its content has a hash of the row in it, which a guess can be tested by. A
// Ledger keeps a keyed hash of it.
func (c *Cells) Unit(id RecordID) mechanism.Unit {
	unit := mechanism.Unit{Kind: release.UnitRecord, Name: id.unitName(), New: c.settings.NewUnits, OtherRelation: c.settings.OtherRelation}
	if c.settings.Client != "" {
		unit.Kind, unit.Name = release.UnitClient, c.settings.Client
	}
	return unit
}
