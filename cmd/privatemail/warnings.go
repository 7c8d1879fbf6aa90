package main

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// caution is a thing a person has to know about a release. The identifiers are
// those of docs/privacy.md.
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
	records       int     // of the unit, 0 for one
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
		add("W-1", "Randomised labels cost epsilon %g of their own, on top of the release.", s.labelEpsilon)
	default:
		add("W-1", "The guarantee covers features and label of one record in the first step only. The later iterations use the label Laplacian again; unless labels are public, or left out, or released by their own private mechanism and counted, they are disclosed and nothing is promised about them.")
	}
	if s.epsilon > 0 {
		add("W-3", "%s", s.worth())
	}
	switch {
	case s.unit == release.UnitRecord && s.records <= 1:
		add("W-4", "The protected thing is one row. A person with j rows is protected j times less (mu times j); the other side's data get no protection.")
	case s.unit != "":
		add("W-4", "The bound is for %d rows of a %s. With j times as many mu is j times larger; the other side's data get no protection.", max(1, s.records), s.unit)
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
	switch {
	case s.total() > 10 || s.delta > 1e-3:
		strength = " That is no meaningful formal protection."
	case s.total() > 1:
		strength = " That is weak."
	}
	if s.delta*float64(s.rows) > 0.1 {
		strength += fmt.Sprintf(" Delta should be far below 1/(number of people), and there are %d rows.", s.rows)
	}
	text := fmt.Sprintf("The record makes no event more than e^epsilon = %.4g times as likely, up to %g: P[S] <= %.4g P'[S] + %g, under the relation %v, for one release. The odds between two data sets that differ in the record can move by more than that factor, with probability %.2g at most; except with probability %g they move by a factor of at most %.4g.",
		math.Exp(s.total()), s.delta, math.Exp(s.total()), s.delta, s.relation, s.exceeded(), s.delta, s.odds())
	if epsilon, another := s.real(); another {
		text += fmt.Sprintf(" That is about a record that is there or not; between two real records it is epsilon %.4g, delta %g.", epsilon, s.delta)
	}
	return text + strength
}

// warn prints the cautions for a person.
func warn(e *cli.Env, cautions []caution) {
	for _, c := range cautions {
		e.Note("%s: %s", c.ID, c.Text)
	}
}
