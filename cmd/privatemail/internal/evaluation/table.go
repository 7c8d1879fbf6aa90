package evaluation

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// show prints the lines for programs, or tables and what their words mean for people.
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
		s.showData(e.Stdout, d.Name, r, lines)
	}
	fmt.Fprintln(e.Stdout)
	for _, word := range r.Words() {
		for i, line := range text.Wrap(word.Meaning, text.LineWidth-17) {
			if i > 0 {
				word.Name = ""
			}
			fmt.Fprintf(e.Stdout, "  %-13s  %s\n", word.Name, line)
		}
	}
	notes := []string{report.CeilingNote, report.FetchingNote}
	if slices.ContainsFunc(s.modes, func(m evaluate.Mode) bool { return m.Assumes != "" }) {
		notes = append(notes, report.AssumptionNote)
	}
	for _, note := range notes {
		fmt.Fprintf(e.Stdout, "\n%s\n", strings.Join(text.Wrap(note, 90), "\n"))
	}
	if s.explain {
		s.protection(e)
	}
	return nil
}

// showData prints the tables of a data set, what their marks stand for, and what is
// missing.
func (s *study) showData(w io.Writer, name string, r *report.Report, lines []report.Line) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l report.Line) bool { return l.Data != name || !s.isDefault(l) })
	if len(lines) == 0 {
		return
	}
	first := lines[0]
	seeds := "1 seed"
	if first.Seeds > 1 {
		seeds = fmt.Sprintf("%d seeds", first.Seeds)
	}
	fmt.Fprintf(w, "\n%s: %d gallery rows of %d classes, %s\n", name, first.Gallery, first.Classes, seeds)
	t := &studyTables{modes: s.modes, lines: lines, epsilons: s.epsilons}
	t.open(w)
	t.recalls(w)
	t.overlaps(w)
	t.volumes(w)
	t.sealed(w)
	t.promised(w)
	var warnings []string
	for _, m := range s.modes {
		if m.Warning != "" && !slices.Contains(warnings, m.Warning) && t.has(m.Name) {
			warnings = append(warnings, m.Warning)
			fmt.Fprintf(w, "\n! %s\n", m.Warning)
		}
	}
	for i, line := range r.Missing(name) {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, strings.Join(text.Wrap("not available: "+line, text.LineWidth-2), "\n  "))
	}
}

// isDefault reports whether a line has its mode's defaults but for epsilon.
func (s *study) isDefault(l report.Line) bool {
	i := slices.IndexFunc(s.modes, func(m evaluate.Mode) bool { return m.Name == l.Mode })
	return l.Params == s.modes[i].At(l.Epsilon)
}

// protection prints what each mode protects, with lines of readable length.
func (s *study) protection(e *cli.Env) {
	fmt.Fprintf(e.Stdout, "\nwhat each mode protects\n\n")
	for _, m := range s.modes {
		s := m.Protects
		if m.Assumes != "" {
			s += " Under assumptions: " + m.Assumes
		}
		if m.Warning != "" {
			s = strings.ToUpper(m.Warning) + ". " + s
		}
		fmt.Fprintf(e.Stdout, "  %s\n", m.Title)
		for _, line := range text.Wrap(s, 90) {
			fmt.Fprintf(e.Stdout, "      %s\n", line)
		}
	}
}
