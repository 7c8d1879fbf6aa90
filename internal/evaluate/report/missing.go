package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// Missing says which figures of a data set there are not, and why: a line for each
// reason.
func (r *Report) Missing(data string) []string {
	return newDataset(data, r.Modes, evaluate.Summarize(r.Records)).reasons()
}

// reasons says what was not available.
func (d *dataset) reasons() (lines []string) {
	var reasons []string
	for _, s := range d.missing {
		if !slices.Contains(reasons, s.Unavailable) {
			reasons = append(reasons, s.Unavailable)
		}
	}
	for _, reason := range reasons {
		var names []string
		for _, s := range d.missing {
			if name := d.nameMissing(s.Mode, reason); s.Unavailable == reason && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		lines = append(lines, strings.Join(names, ", ")+": "+reason)
	}
	return lines
}

// nameMissing is a mode that has no figures for a reason: with the epsilons where it has
// none unless these are all, and with the number of seeds unless these are all.
func (d *dataset) nameMissing(mode, reason string) string {
	all, none, seeds := make(map[float64]bool), make(map[float64]bool), 0
	for _, s := range slices.Concat(d.all, d.missing) {
		if s.Mode != mode {
			continue
		}
		all[s.Epsilon] = true
		if s.Unavailable == reason {
			none[s.Epsilon] = true
			if slices.ContainsFunc(d.all, func(o evaluate.Summary) bool { return o.Mode == mode && o.Params == s.Params }) {
				seeds = max(seeds, s.Seeds)
			}
		}
	}
	if len(none) < len(all) {
		words := make([]string, 0, len(none))
		for _, e := range sorted(none) {
			words = append(words, strconv.FormatFloat(e, 'g', -1, 64))
		}
		mode += " at epsilon " + strings.Join(words, " and ")
	}
	if seeds > 0 {
		mode += " under " + count(seeds, "seed")
	}
	return mode
}
