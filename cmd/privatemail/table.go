package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/evaluate/report"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// show prints the lines for programs, or the tables of R@8 and overlap for
// people.
func (s *study) show(e *cli.Env, r *report.Report) error {
	lines := r.Lines()
	if e.JSON {
		for _, l := range lines {
			if err := e.Object(l); err != nil {
				return err
			}
		}
		return nil
	}
	for _, d := range s.data {
		s.showData(e.Stdout, d.Name, lines)
	}
	for _, note := range []string{report.CeilingNote, report.FetchingNote} {
		fmt.Fprintf(e.Stdout, "\n%s\n", strings.Join(wrap(note, 90), "\n"))
	}
	if s.explain {
		s.protection(e)
	}
	return nil
}

func (s *study) showData(w io.Writer, name string, lines []report.Line) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l report.Line) bool { return l.Data != name || !s.isDefault(l) })
	if len(lines) == 0 {
		return
	}
	first := lines[0]
	seeds := "1 seed"
	if first.Seeds > 1 {
		seeds = fmt.Sprintf("%d seeds", first.Seeds)
	}
	fmt.Fprintf(w, "\n%s: %d gallery rows of %d classes, %s; R@8\n\n", name, first.Gallery, first.Classes, seeds)
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "  \tno epsilon")
	for _, epsilon := range s.epsilons {
		fmt.Fprintf(t, "\tepsilon %g", epsilon)
	}
	fmt.Fprint(t, "\n  ceiling, 8 rows sent\t1.000")
	for _, epsilon := range s.epsilons {
		fmt.Fprintf(t, "\t%.3f", evaluate.Ceiling(first.Classes, epsilon, largestDelta(lines)))
	}
	fmt.Fprintln(t)
	var warnings []string
	for _, m := range s.modes {
		s.showMode(t, m, lines)
		if m.Warning != "" && !slices.Contains(warnings, m.Warning) {
			warnings = append(warnings, m.Warning)
		}
	}
	t.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
	for _, warning := range warnings {
		fmt.Fprintf(w, "\n! %s\n", warning)
	}
	for _, l := range lines {
		if l.Unavailable != "" {
			fmt.Fprintf(w, "\nnot available: %s%s: %s\n", l.Mode, atEpsilon(l.Epsilon), l.Unavailable)
		}
	}
}

// atEpsilon is empty for a mode without one.
func atEpsilon(epsilon float64) string {
	if epsilon == 0 {
		return ""
	}
	return fmt.Sprintf(" at epsilon %g", epsilon)
}

// isDefault tells whether a line has its mode's defaults but for epsilon.
func (s *study) isDefault(l report.Line) bool {
	i := slices.IndexFunc(s.modes, func(m evaluate.Mode) bool { return m.Name == l.Mode })
	return l.Params == s.modes[i].At(l.Epsilon)
}

func largestDelta(lines []report.Line) (delta float64) {
	for _, l := range lines {
		delta = max(delta, l.Delta)
	}
	return delta
}

// showMode prints R@8 of a mode, marked where its guarantee does not hold, and where more rows are sent than kept, what
// they give without a query, and overlap@8 with its own such column.
func (s *study) showMode(w io.Writer, m evaluate.Mode, lines []report.Line) {
	row := func(title string, metric evaluate.Metric) {
		text, any := title, false
		for _, epsilon := range append([]float64{0}, s.epsilons...) {
			cell := ""
			for _, l := range lines {
				if v, ok := l.Figures[string(metric)]; ok && l.Mode == m.Name && l.Epsilon == epsilon {
					cell, any = fmt.Sprintf("%.3f", v.Mean), true
				}
			}
			text += "\t" + cell
		}
		if any {
			fmt.Fprintln(w, text)
		}
	}
	mark := "  "
	if m.Warning != "" {
		mark = "! "
	}
	row(mark+m.Title, evaluate.RecallAt8)
	row(mark+m.Title+", wrong class@8", evaluate.WrongClassAt8)
	row("    the same download, no query", evaluate.NoQueryRecall8)
	if slices.ContainsFunc(lines, func(l report.Line) bool { return l.Mode == m.Name && l.Download > 0 }) {
		row("    overlap@8 of "+m.Name, evaluate.OverlapAt8)
		row("    the same download, no query", evaluate.NoQueryOverlap8)
	}
}

// protection prints what each mode protects, with lines of readable length.
func (s *study) protection(e *cli.Env) {
	fmt.Fprintf(e.Stdout, "\nwhat each mode protects\n\n")
	for _, m := range s.modes {
		text := m.Protects
		if m.Warning != "" {
			text = strings.ToUpper(m.Warning) + ". " + text
		}
		fmt.Fprintf(e.Stdout, "  %s\n", m.Title)
		for _, line := range wrap(text, 90) {
			fmt.Fprintf(e.Stdout, "      %s\n", line)
		}
	}
}

// wrap breaks a text into lines of at most the given width.
func wrap(text string, width int) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return slices.Clip(lines)
}
