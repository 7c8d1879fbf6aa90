package accounts

import (
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// The cautions of a release at epsilon 1, word for word. Mu is that of (1, 1e-6), and the
// odds follow from it.
func TestCautionsInWords(t *testing.T) {
	s := Stake{
		Guarantee: Guarantee{Epsilon: 1, Delta: 1e-6, Mu: 0.23670554, RealMu: 0.23670554, Relation: sensitivity.ReplaceOne, Records: 1},
		Mode:      release.ModeDropped, Unit: release.UnitRecord, Rows: 1797, Noise: 66, Signal: 1,
	}
	want := []Caution{
		{"W-1", "Labels are dropped: later steps go without them."},
		{"W-3", "The guarantee is P[S] <= 2.719 P'[S] + 1e-06 for every set S of outcomes, also with P and P' exchanged, for one release. The relation is replace-one: P with a row and its label, P' with any others in their place. The guarantee is not a bound on the odds of each outcome: those for the data that were there rise by more than that factor with probability 2.1e-05 at most, and by a factor of at most 3.169 except with probability 1e-06."},
		{"W-4", "The bound is for one row. For j times as many mu is j times larger. A server's own data get no protection."},
		{"W-5", "Not protected: running time, memory, the size of the message (n and k), when it was sent, and errors on invalid input."},
		{"W-6", "The noise of an entry is 66 times a typical entry of the first step. Single rows drown in it; expect little from nearest neighbours of one row."},
		{"W-7", "Proof on paper, tests and mutants in the repository, no outside audit. It assumes a trusted machine, good entropy from the system, and that ChaCha8 is a good generator."},
	}
	if got := s.Cautions(); !slices.Equal(got, want) {
		t.Errorf("%q, want\n%q", got, want)
	}
	s.Records, s.NoLedger = 3, true
	if got := s.Cautions()[2].Text; got != "The bound is for 3 rows that change together. For j times as many mu is j times larger. A server's own data get no protection." {
		t.Errorf("%q", got)
	}
	if got := s.Cautions()[3].Text; got != "No ledger: nobody counts how often this record was released, and every release adds up." {
		t.Errorf("%q", got)
	}
}
