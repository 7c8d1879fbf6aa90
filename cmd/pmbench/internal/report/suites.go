package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/ranks"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// suiteSections are the tables of the suites, with plots of the first setting.
func suiteSections(settings []settingReport) (out []section) {
	all := make([][]record.Summary, len(settings))
	for i, s := range settings {
		all[i] = record.Summarise(s.records)
	}
	for _, s := range suites.All() {
		part := suiteSection(s, settings, all)
		if len(part.rows) == 0 {
			continue
		}
		if s.Name == "step" {
			for _, q := range suites.StepRatios(all[0]) {
				part.about += fmt.Sprintf(" Step over product at %s: %.2f.", q.Name, q.Ratio)
			}
		}
		if s.Name == "ranks" {
			part.about += ranks.ScalingWords(ranks.Scalings(settings[0].records))
		}
		if s.Name == "sealed" {
			for _, line := range suites.SealedLines(all[0]) {
				part.about += " " + line + "."
			}
		}
		part.plot = suitePlot(s.Name, all[0])
		out = append(out, part)
	}
	return out
}

// suiteSection is the table of one suite: the figures of the first setting, and next to
// them the medians of the others.
func suiteSection(s suites.Suite, settings []settingReport, all [][]record.Summary) section {
	var commands []string
	for _, x := range settings {
		for _, c := range x.commandsOf(s.Name) {
			if !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	about := strings.ToUpper(s.About[:1]) + s.About[1:] + ". " + commandWords(commands)
	if s.Name == "levels" { // has columns for settings by itself
		head, rows := suites.LevelTable(slices.Concat(all...))
		return section{title: "Suite levels", about: about + " " + suites.LevelTableWords, head: head, rows: rows}
	}
	t := newBesideTable(section{
		title: "Suite " + s.Name, about: about,
		head: []string{"case", "median", "quartiles", "rounds", "rate", "ns/nnz", "of limit", "eta p99", "peak", "B/nnz"},
	})
	for i, of := range all {
		cases := slices.DeleteFunc(slices.Clone(of), func(c record.Summary) bool { return c.Suite != s.Name })
		if i > 0 && len(cases) > 0 {
			t.column(settings[i].name)
		}
		for _, c := range cases {
			if i == 0 {
				t.put(c.Case, suiteCells(c))
			} else {
				t.beside(c.Case, []string{c.Case}, medianCell(c))
			}
		}
	}
	return t.finish(settings[0].name, "medians and their share of the limit")
}

// suiteCells is a line of a table.
func suiteCells(c record.Summary) []string {
	return []string{
		c.Case, figures.Duration(c.Seconds), figures.Duration(c.Low) + " to " + figures.Duration(c.High), c.RoundsWords(), c.RateWords(), figures.Optional(c.NsPerNNZ, "%.2f"),
		c.RoofWords(), figures.Optional(c.EtaP99, "%.1e"), figures.Size(c.PeakBytes), figures.Optional(c.PeakPerNNZ, "%.1f"),
	}
}

// medianCell is what a column of another setting has of a case.
func medianCell(c record.Summary) string {
	text := figures.Duration(c.Seconds)
	if share := c.RoofWords(); share != "" {
		text += ", " + share
	}
	if c.EndedEarly {
		text += " (ended early)"
	}
	return text
}

// suitePlot is the plot of a suite, nil for those without a plot.
func suitePlot(suite string, all []record.Summary) *plot.Chart {
	switch suite {
	case "spmm":
		if rows := rooflines(slices.DeleteFunc(slices.Clone(all), func(c record.Summary) bool { return c.Suite != "spmm" })); len(rows) > 0 {
			return rooflinePlot(rows)
		}
	case "scale":
		return scalePlot(all)
	}
	return nil
}
