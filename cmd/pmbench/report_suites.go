package main

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// suiteSections are the tables of the suites, with plots of the first setting.
func suiteSections(settings []settingReport) (out []section, err error) {
	all := make([][]summary, len(settings))
	for i, s := range settings {
		all[i] = summarise(s.records)
	}
	for _, s := range suites() {
		part := suiteSection(s, settings, all)
		if len(part.rows) == 0 {
			continue
		}
		if s.name == "step" {
			for _, q := range stepRatios(all[0]) {
				part.about += fmt.Sprintf(" Step over product at %s: %.2f.", q.name, q.ratio)
			}
		}
		if s.name == "ranks" {
			part.about += scalingWords(scalings(settings[0].records))
		}
		if s.name == "sealed" {
			for _, line := range sealedLines(all[0]) {
				part.about += " " + line + "."
			}
		}
		p, err := suitePlot(s.name, all[0])
		if err != nil {
			return nil, err
		}
		if p != nil {
			if part.plot, err = inline(p, plotWidth, plotHeight); err != nil {
				return nil, err
			}
		}
		out = append(out, part)
	}
	return out, nil
}

// suiteSection is the table of one suite: the figures of the first setting, and beside
// them the medians of the others.
func suiteSection(s suite, settings []settingReport, all [][]summary) section {
	var commands []string
	for _, x := range settings {
		for _, c := range x.commandsOf(s.name) {
			if !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	about := strings.ToUpper(s.about[:1]) + s.about[1:] + ". " + commandWords(commands)
	if s.name == "levels" { // has columns for settings by itself
		head, rows := levelTable(slices.Concat(all...))
		return section{title: "Suite levels", about: about + " " + levelTableWords, head: head, rows: rows}
	}
	t := newBesideTable(section{
		title: "Suite " + s.name, about: about,
		head: []string{"case", "median", "quartiles", "rounds", "rate", "ns/nnz", "of limit", "eta p99", "peak", "B/nnz"},
	})
	for i, of := range all {
		cases := slices.DeleteFunc(slices.Clone(of), func(c summary) bool { return c.Suite != s.name })
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
func suiteCells(c summary) []string {
	return []string{
		c.Case, duration(c.Seconds), duration(c.Low) + " to " + duration(c.High), roundsCell(c), rate(c.Record), optional(c.NsPerNNZ, "%.2f"),
		fraction(c.Record), optional(c.EtaP99, "%.1e"), size(c.PeakBytes), optional(c.PeakPerNNZ, "%.1f"),
	}
}

// medianCell is what a column of another setting has of a case.
func medianCell(c summary) string {
	text := duration(c.Seconds)
	if share := fraction(c.Record); share != "" {
		text += ", " + share
	}
	if c.EndedEarly {
		text += " (ended early)"
	}
	return text
}

// suitePlot is the plot of a suite, nil for those that have none.
func suitePlot(suite string, all []summary) (*plot.Plot, error) {
	switch suite {
	case "spmm":
		if rows := rooflines(slices.DeleteFunc(slices.Clone(all), func(c summary) bool { return c.Suite != "spmm" })); len(rows) > 0 {
			return rooflinePlot(rows)
		}
	case "scale":
		return scalePlot(all)
	}
	return nil, nil
}
