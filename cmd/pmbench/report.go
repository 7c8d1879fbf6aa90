package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func reportVerb() cli.Verb {
	return cli.Verb{
		Name: "report", Summary: "write BENCHMARKS.md and a page with plots from recordings",
		Synopsis: []string{"FOLDER [-out FILE] [-html FILE]"},
		About: `
Reads all recordings (*.jsonl, of run -json and peers -json) in the folder and those
below it and writes a table of each suite, with the machine, the commands and the
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

func (f *reportFlags) run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) != 1 {
		return cli.Usagef("one folder of recordings is wanted, got %d names", len(names))
	}
	if f.out == "" {
		return cli.Usagef("-out is empty: where should the report go?")
	}
	r, err := readReport(names[0])
	if err != nil {
		return err
	}
	type file struct{ path, text string }
	files := []file{{path: f.out}}
	if f.html != "" {
		files = append(files, file{path: f.html})
	}
	page := func() (string, error) { return r.page(commandLine(e)) }
	for i, text := range []func() (string, error){r.markdown, page}[:len(files)] {
		if err := cli.CheckPlace(files[i].path); err != nil {
			return err
		}
		if files[i].text, err = text(); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := formats.WriteFile(ctx, file.path, func(w io.Writer) error { _, err := io.WriteString(w, file.text); return err }); err != nil {
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
		if place := filepath.Dir(path); place != filepath.Clean(folder) {
			for _, x := range records {
				x.Machine.recordedIn(filepath.Base(place))
			}
			for _, x := range ratios {
				x.Machine.recordedIn(filepath.Base(place))
			}
		}
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

// machines returns the machines, one for each folder and processor, with the figures
// measured on them.
func (r *report) machines() (out []*report, names []string) {
	byName := map[string]*report{}
	of := func(m *Machine) *report {
		name := "unknown machine"
		if m != nil {
			name = m.CPU
			if m.folder != "" {
				name = m.folder + ": " + name
			}
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
	below        bool // a part of the section before it
	head         []string
	rows         [][]string
	plot         string // an svg element, on the page only
}

// sections makes the tables and plots of one machine.
func (r *report) sections() (out []section, err error) {
	all := summarise(r.records)
	if len(r.ratios) > 0 {
		out = append(out, r.inShort())
	}
	out = append(out, r.limits())
	for _, s := range suites() {
		part := section{
			title: "Suite " + s.name, about: strings.ToUpper(s.about[:1]) + s.about[1:] + ". " + commandWords(r.commandsOf(s.name)),
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
		if s.name == "levels" {
			part.about += " " + levelTableWords
			part.head, part.rows = levelTable(all)
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
		peers, err := r.peers()
		if err != nil {
			return nil, err
		}
		out = append(out, peers...)
	}
	return out, nil
}

// limits is the table of the machine.
func (r *report) limits() section {
	s := section{title: "Machine", head: []string{"what", "value"}}
	var m *Machine
	var commits, levels []string
	note := func(x *Machine, commit string) {
		if m == nil {
			m = x
		}
		if !slices.Contains(commits, commit) {
			commits = append(commits, commit)
		}
		if x != nil && !slices.Contains(levels, x.setting()) {
			levels = append(levels, x.setting())
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
		[]string{"processor", fmt.Sprintf("%s, %d cores, %s/%s, %s, level %s", m.CPU, m.Cores, m.GOOS, m.GOARCH, m.Go, strings.Join(levels, ", "))},
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

// ofSuite returns the ratios of a suite.
func (r *report) ofSuite(name string) (out []*Ratio) {
	for _, x := range r.ratios {
		if x.Suite == name {
			out = append(out, x)
		}
	}
	return out
}

// inShort is a line for each peer of each suite, the least and the most of its ratios.
func (r *report) inShort() section {
	s := section{
		title: "In short", about: "The time of others over ours, at its least and at its most over the cases of a suite; above 1 we are faster. All cases are under Peers.",
		head: []string{"suite", "peer", "cases", "least", "at", "most", "at"},
	}
	for _, suite := range peerSuites() {
		ratios := r.ofSuite(suite.name)
		short := shortCases(ratios)
		var order []string
		byPeer := map[string][]*Ratio{}
		for _, x := range ratios {
			if x.Ratio != nil {
				if byPeer[x.Peer] == nil {
					order = append(order, x.Peer)
				}
				byPeer[x.Peer] = append(byPeer[x.Peer], x)
			}
		}
		for _, peer := range order {
			slices.SortStableFunc(byPeer[peer], func(a, b *Ratio) int { return cmp.Compare(*a.Ratio, *b.Ratio) })
			row := []string{suite.name, peer, fmt.Sprint(len(byPeer[peer]))}
			for _, x := range []*Ratio{byPeer[peer][0], byPeer[peer][len(byPeer[peer])-1]} {
				at := short[x.Case]
				if x.Recall != nil {
					at += fmt.Sprintf(" (recall %.2f)", *x.Recall)
				}
				if x.extrapolated() {
					at += " (extrapolated)"
				}
				row = append(row, fmt.Sprintf("%.2f", *x.Ratio), strings.TrimSpace(at))
			}
			s.rows = append(s.rows, row)
		}
	}
	return s
}

// peers are the tables of ratios, one for each suite.
func (r *report) peers() ([]section, error) {
	out := []section{{title: "Peers", about: "Their time over ours, the median of interleaved rounds on the same data; above 1 we are faster. " +
		"A result is the same, with the largest difference or the number of rows that differ, but for approximate peers, whose recall is given. Residuals are ours and theirs."}}
	for _, suite := range peerSuites() {
		ratios := r.ofSuite(suite.name)
		if len(ratios) == 0 {
			continue
		}
		s := section{
			title: "Peers in suite " + suite.name, below: true, head: ratioHead(),
			about: strings.Join(strings.Fields(suite.about), " ") + " " + commandWords(suite.commands(ratios)),
		}
		for _, x := range ratios {
			s.rows = append(s.rows, x.row())
		}
		p, err := ratioPlot(ratios)
		if err == nil && p != nil {
			s.plot, err = inline(p, plotWidth, ratioHeight(ratios))
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// reportTerms explains the words of the tables.
const reportTerms = "Times are medians over rounds. \"Of limit\" is the time the named limit of the machine allows over the time taken: " +
	"the bytes of the model (8 a nonzero and 8 a row, less in compact layouts, x and y once) at the measured bandwidth of reading, or rows gathered in random order, or scalar multiply-adds. " +
	"It can exceed 1 where caches hold a part of the data. B/nnz is the peak of memory while building, per entry."

// markdown writes the report as BENCHMARKS.md.
func (r *report) markdown() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nMade by `pmbench report` from recorded runs; do not edit. %s\n", reportTerms)
	parts, names := r.machines()
	for i, part := range parts {
		fmt.Fprintf(&b, "\n## %s\n", names[i])
		sections, err := part.sections()
		if err != nil {
			return "", err
		}
		for _, s := range sections {
			fmt.Fprintf(&b, "\n%s %s\n", map[bool]string{false: "###", true: "####"}[s.below], s.title)
			if s.about != "" {
				fmt.Fprintf(&b, "\n%s\n", s.about)
			}
			if len(s.rows) == 0 {
				continue
			}
			fmt.Fprintf(&b, "\n| %s |\n|%s\n", strings.Join(s.head, " | "), strings.Repeat(" --- |", len(s.head)))
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
