package main

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// caution is a thing a person has to know about a release. The identifiers are those of
// docs/privacy.md, for programs that read -json; people get the text.
type caution struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// stake is what cautions are about.
type stake struct {
	guarantee
	mode          string  // label mode, empty when not chosen yet
	labelEpsilon  float64 // of randomised labels, a row
	unit          string  // kind, empty when not chosen yet
	restPublic    bool    // one row is private, all others are public
	noLedger      bool
	noise, signal float64
	rows          int
}

// cautions returns what applies, the same words wherever they are printed.
func (s stake) cautions() []caution {
	var out []caution
	add := func(id, format string, args ...any) { out = append(out, caution{id, fmt.Sprintf(format, args...)}) }
	switch {
	case !s.relation.LabelPrivate():
		add("W-1", "The relation %v promises nothing about labels: they are taken to be public.", s.relation)
	case s.mode == release.ModeDropped:
		add("W-1", "Labels are dropped: later steps go without them.")
	case s.mode == release.ModeRandomised:
		add("W-1", "Randomised labels cost epsilon %g a row, %s in all, on top of the noise.", s.labelEpsilon, closelyTo(s.labels, 6))
	default:
		add("W-1", "The guarantee covers features and label of one record in the first step only. Later steps use the labels again: unless labels are public, or left out, or released by their own private mechanism and counted, they are disclosed and nothing is promised about them.")
	}
	if s.epsilon > 0 {
		add("W-3", "%s", s.worth())
	}
	switch {
	case s.unit == "":
	case s.restPublic:
		add("W-4", "What is protected is the one private row. All other rows count as public: nothing is promised about them, whoever they belong to.")
	case s.relation.Real() != s.relation:
		add("W-4", "What is protected is one row. For a person with several rows nothing is proved under the relation %v; replace-one and features-replace have a bound.", s.relation)
	default:
		together := "one row"
		if s.records > 1 {
			together = fmt.Sprintf("%d rows that change together", s.records)
		}
		add("W-4", "The bound is for %s. For j times as many mu is j times larger. A server's own data get no protection.", together)
	}
	if s.noLedger {
		add("W-3", "No ledger: nobody counts how often this record was released, and every release adds up.")
	}
	add("W-5", "Not protected: running time, memory, the size of the message (n and k), when it was sent, and errors on invalid input.")
	if s.noise > 0 && s.signal > 0 {
		ratio := s.noise / s.signal
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
func (s stake) worth() string {
	strength := ""
	largest, _ := s.real()
	switch largest = max(largest, s.total()); {
	case largest > 10 || s.delta > 1e-3:
		strength = " That is no meaningful formal protection."
	case largest > 1:
		strength = " That is weak."
	}
	if s.delta*float64(s.rows) > 0.1 {
		strength += fmt.Sprintf(" Delta should be far below 1/(number of people), and there are %d rows.", s.rows)
	}
	text := fmt.Sprintf("The guarantee is %s for every set S of outcomes, also with P and P' exchanged, for one release. The relation is %v: %s. The guarantee is not a bound on the odds of each outcome: those for the data that were there rise by more than that factor with probability %s at most, and by a factor of at most %s except with probability %g.",
		s.inequality(), s.relation, s.neighbours(), atMost(s.exceeded(), 2), atMost(s.odds(), 4), s.delta)
	if epsilon, another := s.real(); another {
		text += fmt.Sprintf(" The relation is about a row that is there or not; between two real rows the guarantee is epsilon %s, delta %g.", atMost(epsilon, 4), s.delta)
	}
	return text + strength
}

// warn prints the cautions for a person.
func warn(e *cli.Env, cautions []caution) {
	for _, c := range cautions {
		e.Note("%s", c.Text)
	}
}
