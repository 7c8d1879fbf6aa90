package accounts

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// Caution is a thing a person has to know about a release. The identifiers are those of
// docs/privacy.md, for programs that read -json; people get the text.
type Caution struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// Stake is what cautions are about.
type Stake struct {
	Guarantee
	Mode          string  // label mode, empty when not chosen yet
	LabelEpsilon  float64 // of randomised labels, a row
	Unit          string  // kind, empty when not chosen yet
	RestPublic    bool    // one row is private, all others are public
	NoLedger      bool
	Noise, Signal float64
	Rows          int
}

// Cautions returns what applies, the same words wherever they are printed.
func (s Stake) Cautions() []Caution {
	var out []Caution
	add := func(id, format string, args ...any) { out = append(out, Caution{id, fmt.Sprintf(format, args...)}) }
	switch {
	case !s.Relation.LabelPrivate():
		add("W-1", "The relation %v promises nothing about labels: they are taken to be public.", s.Relation)
	case s.Mode == release.ModeDropped:
		add("W-1", "Labels are dropped: later steps go without them.")
	case s.Mode == release.ModeRandomised:
		add("W-1", "Randomised labels cost epsilon %g a row, %s in all, on top of the noise.", s.LabelEpsilon, CloselyTo(s.Labels, 6))
	default:
		add("W-1", "The guarantee covers features and label of one record in the first step only. Later steps use the labels again: unless labels are public, or left out, or released by their own private mechanism and counted, they are disclosed and nothing is promised about them.")
	}
	if s.Epsilon > 0 {
		add("W-3", "%s", s.worth())
	}
	switch {
	case s.Unit == "":
	case s.RestPublic:
		add("W-4", "What is protected is the one private row. All other rows count as public: nothing is promised about them, whoever they belong to.")
	case s.Relation.Real() != s.Relation:
		add("W-4", "What is protected is one row. For a person with several rows nothing is proved under the relation %v; replace-one and features-replace have a bound.", s.Relation)
	default:
		together := "one row"
		if s.Records > 1 {
			together = fmt.Sprintf("%d rows that change together", s.Records)
		}
		add("W-4", "The bound is for %s. For j times as many mu is j times larger. A server's own data get no protection.", together)
	}
	if s.NoLedger {
		add("W-3", "No ledger: nobody counts how often this record was released, and every release adds up.")
	}
	add("W-5", "Not protected: running time, memory, the size of the message (n and k), when it was sent, and errors on invalid input.")
	if s.Noise > 0 && s.Signal > 0 {
		ratio := s.Noise / s.Signal
		verdict := "Judge it by retrieval, not by this number alone."
		if ratio > 3 {
			verdict = "Single rows drown in it; expect little from nearest neighbours of one row."
		}
		add("W-6", "The noise of an entry is %.3g times a typical entry of the first step. %s", ratio, verdict)
	}
	add("W-7", "Proof on paper, tests and mutants in the repository, no outside audit. It assumes a trusted machine, good entropy from the system, and that ChaCha8 is a good generator.")
	return out
}

// worth says what epsilon means.
func (s Stake) worth() string {
	strength := ""
	largest, _ := s.real()
	switch largest = max(largest, s.Total()); {
	case largest > 10 || s.Delta > 1e-3:
		strength = " That is no meaningful formal protection."
	case largest > 1:
		strength = " That is weak."
	}
	if s.Delta*float64(s.Rows) > 0.1 {
		strength += fmt.Sprintf(" Delta should be far below 1/(number of people), and there are %d rows.", s.Rows)
	}
	text := fmt.Sprintf("The guarantee is %s for every set S of outcomes, also with P and P' exchanged, for one release. The relation is %v: %s. The guarantee is not a bound on the odds of each outcome: those for the data that were there rise by more than that factor with probability %s at most, and by a factor of at most %s except with probability %g.",
		s.inequality(), s.Relation, s.neighbours(), AtMost(s.Exceeded(), 2), AtMost(s.odds(), 4), s.Delta)
	if epsilon, another := s.real(); another {
		text += fmt.Sprintf(" The relation is about a row that is there or not; between two real rows the guarantee is epsilon %s, delta %g.", AtMost(epsilon, 4), s.Delta)
	}
	return text + strength
}

// Warn prints the cautions for a person.
func Warn(e *cli.Env, cautions []Caution) {
	for _, c := range cautions {
		e.Note("%s", c.Text)
	}
}
