package accounts

import (
	"errors"
	"fmt"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// CheckUnit refuses a unit that the ledger does not know, unless it is said to be new,
// before any work is done for it.
func CheckUnit(e *cli.Env, path string, unit mechanism.Unit) error {
	s, err := ReadLedger(path, Head{})
	if err != nil {
		return err
	}
	switch _, err := s.Balance(unit); {
	case err == nil:
		if unit.New {
			e.Note("-new-unit: %s knows this unit already, and it goes on spending from what it has left", path)
		}
	case !errors.Is(err, mechanism.ErrUnknownUnit):
		return err
	case !unit.New:
		return UnknownUnit(s, path, unit, "; add -new-unit if it is a new one")
	}
	return nil
}

// UnknownUnit says which unit of the ledger may have been meant.
func UnknownUnit(s *mechanism.Snapshot, path string, unit mechanism.Unit, advice string) error {
	meant := " (a ledger has hashes in place of names, so it cannot list them)"
	if len(s.Balances) == 0 {
		meant = " (nothing has been spent from this ledger)"
	}
	for _, near := range nearUnits(unit) {
		if _, err := s.Balance(near); err == nil {
			meant = fmt.Sprintf(" (did you mean the %s %q?)", near.Kind, near.Name)
			break
		}
	}
	return fmt.Errorf("%s: unknown unit: no %s %q has spent from it%s%s", path, unit.Kind, unit.Name, meant, advice)
}

// nearUnits returns units that a mistyped one may have been meant for: of the other
// kind, in other case, without blanks around it, or one letter away. A ledger holds
// keyed hashes, so it can be asked for a name and cannot list its names.
func nearUnits(unit mechanism.Unit) (out []mechanism.Unit) {
	other := release.UnitClient
	if unit.Kind == other {
		other = release.UnitRecord
	}
	add := func(kind, name string) {
		if name != "" {
			out = append(out, mechanism.Unit{Kind: kind, Name: name})
		}
	}
	name := unit.Name
	add(other, name)
	lower := strings.ToLower(name)
	variants := []string{strings.TrimSpace(name), lower, strings.ToUpper(name)}
	if r := []rune(lower); len(r) > 0 {
		variants = append(variants, strings.ToUpper(string(r[:1]))+string(r[1:]))
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./@ "
	r := []rune(name)
	for i := range len(r) + 1 {
		before, after := string(r[:i]), string(r[i:])
		for _, letter := range letters {
			variants = append(variants, before+string(letter)+after)
		}
		if i == len(r) {
			break
		}
		rest := string(r[i+1:])
		variants = append(variants, before+rest)
		if i+1 < len(r) {
			variants = append(variants, before+string(r[i+1])+string(r[i])+string(r[i+2:]))
		}
		for _, letter := range letters {
			variants = append(variants, before+string(letter)+rest)
		}
	}
	for _, v := range variants {
		add(unit.Kind, v)
	}
	return out
}
