package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/evaluate"
)

// Missing says which figures of a data set there are not, and why: a line for each
// reason.
func (r *Report) Missing(data string) []string {
	return newDataset(data, r.Modes, evaluate.Summarize(r.Records)).reasons()
}

// reasons says what was not available.
func (d *dataset) reasons() (lines []string) {
	var reasons []string
	what := make(map[string][]string)
	for _, s := range d.missing {
		name := d.nameMissing(&s)
		if !slices.Contains(reasons, s.Unavailable) {
			reasons = append(reasons, s.Unavailable)
		}
		if !slices.Contains(what[s.Unavailable], name) {
			what[s.Unavailable] = append(what[s.Unavailable], name)
		}
	}
	for _, reason := range reasons {
		lines = append(lines, strings.Join(what[reason], ", ")+": "+reason)
	}
	return lines
}

// nameMissing is the name of a mode, with its epsilon unless the mode has no figures at
// all at its defaults.
func (d *dataset) nameMissing(s *evaluate.Summary) string {
	name := s.Mode
	if s.Epsilon > 0 && slices.ContainsFunc(d.main, func(o evaluate.Summary) bool { return o.Mode == s.Mode }) {
		name += fmt.Sprintf(" at epsilon %g", s.Epsilon)
	}
	if slices.ContainsFunc(d.all, func(o evaluate.Summary) bool { return o.Mode == s.Mode && o.Params == s.Params }) {
		name += " under " + count(s.Seeds, "seed")
	}
	return name
}
