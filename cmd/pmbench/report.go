package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func reportVerb() cli.Verb {
	return cli.Verb{
		Name: "report", Summary: "write BENCHMARKS.md and a page with plots from recordings",
		Synopsis: []string{"FOLDER [-out FILE] [-html FILE]"},
		About: `
Reads all recordings (*.jsonl, of run -json and peers -json) in the folder and those
below it and writes their medians as a table, with the machine, the commands and the
versions, and the same as one HTML page with plots that needs no other file. The text
of notes.md in the folder, such as what was tried and rejected, is put at the end.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench report cmd/pmbench/testdata/recordings -out BENCHMARKS.md -html report.html"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(reportFlags)
			fs.StringVar(&f.out, "out", "BENCHMARKS.md", "write the tables to `FILE`")
			fs.StringVar(&f.html, "html", "", "write the page to `FILE`")
			return f.run
		},
	}
}

type reportFlags struct{ out, html string }

// notesName is the file of text that ends a report.
const notesName = "notes.md"

func (f *reportFlags) run(_ context.Context, e *cli.Env, names []string) error {
	if len(names) != 1 {
		return cli.Usagef("one folder of recordings is wanted, got %d names", len(names))
	}
	r, err := readReport(names[0])
	if err != nil {
		return err
	}
	text, err := r.markdown()
	if err != nil {
		return err
	}
	if err := writeFile(f.out, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
		return err
	}
	if f.html != "" {
		page, err := r.page()
		if err != nil {
			return err
		}
		if err := writeFile(f.html, func(w io.Writer) error { _, err := io.WriteString(w, page); return err }); err != nil {
			return err
		}
	}
	if e.JSON {
		return e.Object(map[string]any{"out": f.out, "html": f.html, "measurements": len(r.records), "ratios": len(r.ratios)})
	}
	if e.Quiet {
		return nil
	}
	_, err = fmt.Fprintf(e.Stdout, "%d measurements and %d ratios\n", len(r.records), len(r.ratios))
	return err
}

// report is what the recordings of a folder hold.
type report struct {
	records []*Record
	ratios  []*Ratio
	notes   string
}

func readReport(folder string) (*report, error) {
	r := new(report)
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		records, ratios, err := readLines(path)
		r.records, r.ratios = append(r.records, records...), append(r.ratios, ratios...)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such folder", folder)
	}
	if err != nil {
		return nil, err
	}
	if len(r.records)+len(r.ratios) == 0 {
		return nil, fmt.Errorf("%s: no recordings; run -json and peers -json print them", folder)
	}
	notes, err := os.ReadFile(filepath.Join(folder, notesName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.notes = strings.TrimSpace(string(notes))
	return r, nil
}

// machines returns a machine of each kind, with the figures measured on it.
func (r *report) machines() (out []*report, names []string) {
	byName := map[string]*report{}
	of := func(m *Machine) *report {
		name := "unknown machine"
		if m != nil {
			name = m.CPU
		}
		if byName[name] == nil {
			byName[name] = new(report)
			names = append(names, name)
			out = append(out, byName[name])
		}
		return byName[name]
	}
	for _, x := range r.records {
		part := of(x.Machine)
		part.records = append(part.records, x)
	}
	for _, x := range r.ratios {
		part := of(x.Machine)
		part.ratios = append(part.ratios, x)
	}
	return out, names
}

// section is a titled table of a report.
type section struct {
	title, about string
	head         []string
	rows         [][]string
	plot         string // an svg element, on the page only
}

// sections makes the tables and plots of one machine.
func (r *report) sections() (out []section, err error) {
	all := summarise(r.records)
	out = append(out, r.limits())
	for _, s := range suites() {
		part := section{
			title: "Suite " + s.name, about: strings.ToUpper(s.about[:1]) + s.about[1:] + ". Command: `pmbench run -suite " + s.name + " -json`.",
			head: []string{"case", "median", "quartiles", "rounds", "rate", "ns/nnz", "of limit", "eta p99", "peak", "B/nnz"},
		}
		for _, c := range all {
			if c.Suite == s.name {
				part.rows = append(part.rows, []string{
					c.Case, duration(c.Seconds), duration(c.Low) + " to " + duration(c.High), fmt.Sprint(c.Rounds), rate(c.Record), optional(c.NsPerNNZ, "%.2f"),
					fraction(c.Record), optional(c.EtaP99, "%.1e"), size(c.PeakBytes), optional(c.PeakPerNNZ, "%.1f"),
				})
			}
		}
		if len(part.rows) == 0 {
			continue
		}
		var p *plot.Plot
		switch s.name {
		case "spmm":
			if rows := rooflines(slices.DeleteFunc(slices.Clone(all), func(c summary) bool { return c.Suite != "spmm" })); len(rows) > 0 {
				p, err = rooflinePlot(rows)
			}
		case "step":
			for _, q := range stepRatios(all) {
				part.about += fmt.Sprintf(" Step over product at %s: %.2f.", q.name, q.ratio)
			}
		case "scale":
			p, err = scalePlot(all)
		}
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
	if len(r.ratios) > 0 {
		part, err := r.peers()
		if err != nil {
			return nil, err
		}
		out = append(out, part)
	}
	return out, nil
}

// limits is the table of the machine.
func (r *report) limits() section {
	s := section{title: "Machine", head: []string{"what", "value"}}
	var m *Machine
	commits, runs := []string{}, map[string]bool{}
	note := func(x *Machine, commit string) {
		if m == nil {
			m = x
		}
		if !runs[commit] {
			runs[commit] = true
			commits = append(commits, commit)
		}
	}
	for _, x := range r.records {
		note(x.Machine, x.Commit)
	}
	for _, x := range r.ratios {
		note(x.Machine, x.Commit)
	}
	s.rows = append(s.rows, []string{"commit", strings.Join(commits, ", ")})
	if m == nil {
		return s
	}
	s.rows = append(s.rows,
		[]string{"processor", fmt.Sprintf("%s, %d cores, %s/%s, %s, level %s", m.CPU, m.Cores, m.GOOS, m.GOARCH, m.Go, m.Level)},
		[]string{"caches", fmt.Sprintf("%d KiB, %d KiB, %d KiB", m.L1>>10, m.L2>>10, m.L3>>10)},
		[]string{"memory", fmt.Sprintf("%d GiB, huge pages %s", m.Memory>>30, m.HugePages)},
		[]string{"counters", m.Counters})
	for at, name := range []string{"1 worker", "all workers"} {
		reads, gathers, madds := []float64{}, []float64{}, []float64{}
		for _, x := range r.records {
			if x.Machine != nil && x.Machine.Limits.Read[at] > 0 {
				l := &x.Machine.Limits
				reads, gathers, madds = append(reads, l.Read[at]), append(gathers, l.Gather[at]), append(madds, l.Madd[at])
			}
		}
		if len(reads) > 0 {
			s.rows = append(s.rows, []string{"limits, " + name, fmt.Sprintf("read %.1f GB/s, gather %.0f million rows of 64 bytes/s, %.2f G scalar multiply-adds/s (medians over the runs; fractions are of the run's own)",
				median(reads)/1e9, median(gathers)/1e6, median(madds)/1e9)})
		}
	}
	return s
}

// peers is the table of ratios.
func (r *report) peers() (section, error) {
	s := section{
		title: "Peers", about: "Their time over ours, the median of interleaved rounds on the same data with the same results; above 1 we are faster. Command: `pmbench peers -json`.",
		head: []string{"case", "peer", "ours", "theirs", "ratio", "quartiles", "rounds", "difference"},
	}
	for _, x := range r.ratios {
		row := []string{x.Suite + " " + x.Case, strings.TrimSpace(x.Peer + " " + x.Version), "", "", "", "", "", ""}
		switch {
		case x.Missing != "":
			row[4] = "missing"
		case x.Ratio == nil:
			row[4], row[7] = "results differ", optional(x.Difference, "%.1g")
		default:
			row[2], row[3], row[4] = duration(x.Seconds), duration(x.PeerSeconds), fmt.Sprintf("%.2f", *x.Ratio)
			row[5], row[6], row[7] = optional(x.RatioLow, "%.2f")+" to "+optional(x.RatioHigh, "%.2f"), fmt.Sprint(x.Rounds), optional(x.Difference, "%.1g")
		}
		s.rows = append(s.rows, row)
	}
	p, err := ratioPlot(r.ratios)
	if err == nil && p != nil {
		s.plot, err = inline(p, plotWidth, vg.Centimeter*vg.Length(3+len(r.ratios))*0.55+2*vg.Centimeter)
	}
	return s, err
}

const reportIntro = "Made by `pmbench report` from recorded runs; do not edit. Times are medians over rounds. \"Of limit\" is the time the named limit of the machine allows over the time taken: " +
	"the bytes of the model (8 a nonzero and 8 a row, less in compact layouts, x and y once) at the measured bandwidth of reading, or rows gathered in random order, or scalar multiply-adds. " +
	"It can exceed 1 where caches hold a part of the data. B/nnz is the peak of memory while building, per entry."

// markdown writes the report as BENCHMARKS.md.
func (r *report) markdown() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\n%s\n", reportIntro)
	parts, names := r.machines()
	for i, part := range parts {
		fmt.Fprintf(&b, "\n## %s\n", names[i])
		sections, err := part.sections()
		if err != nil {
			return "", err
		}
		for _, s := range sections {
			fmt.Fprintf(&b, "\n### %s\n\n", s.title)
			if s.about != "" {
				fmt.Fprintf(&b, "%s\n\n", s.about)
			}
			fmt.Fprintf(&b, "| %s |\n|%s\n", strings.Join(s.head, " | "), strings.Repeat(" --- |", len(s.head)))
			for _, row := range s.rows {
				fmt.Fprintf(&b, "| %s |\n", strings.ReplaceAll(strings.Join(row, " | "), "\n", " "))
			}
		}
	}
	if r.notes != "" {
		fmt.Fprintf(&b, "\n%s\n", r.notes)
	}
	return b.String(), nil
}

const pageHead = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>PrivateMail benchmarks</title>
<style>
body { font-family: sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 0.85em; margin: 1em 0; }
td, th { padding: 0.25em 0.7em; border-bottom: 1px solid #ddd; text-align: right; }
td:first-child, th:first-child { text-align: left; font-family: monospace; }
pre { white-space: pre-wrap; }
svg { max-width: 100%; height: auto; }
</style></head><body>
`

// page writes the report as one HTML file.
func (r *report) page() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s<h1>PrivateMail benchmarks</h1>\n<p>%s</p>\n", pageHead, html.EscapeString(reportIntro))
	parts, names := r.machines()
	for i, part := range parts {
		fmt.Fprintf(&b, "<h2>%s</h2>\n", html.EscapeString(names[i]))
		sections, err := part.sections()
		if err != nil {
			return "", err
		}
		for _, s := range sections {
			fmt.Fprintf(&b, "<h3>%s</h3>\n<p>%s</p>\n%s\n<table>\n<tr>", html.EscapeString(s.title), html.EscapeString(s.about), s.plot)
			for _, h := range s.head {
				fmt.Fprintf(&b, "<th>%s</th>", html.EscapeString(h))
			}
			b.WriteString("</tr>\n")
			for _, row := range s.rows {
				b.WriteString("<tr>")
				for _, v := range row {
					fmt.Fprintf(&b, "<td>%s</td>", html.EscapeString(v))
				}
				b.WriteString("</tr>\n")
			}
			b.WriteString("</table>\n")
		}
	}
	if r.notes != "" {
		fmt.Fprintf(&b, "<pre>%s</pre>\n", html.EscapeString(r.notes))
	}
	b.WriteString("</body></html>\n")
	return b.String(), nil
}
