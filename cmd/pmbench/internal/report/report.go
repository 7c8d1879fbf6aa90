// Package report writes BENCHMARKS.md and a page with plots from the recordings of a folder,
// and draws the roofline of products and steps.
package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// Options are what verb report is asked for: the files to write, no page where HTML is "".
type Options struct{ Out, HTML string }

// notesName is the file of text that ends a report.
const notesName = "notes.md"

// Run reports on the recordings of the only one of names, a folder.
func (f *Options) Run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) != 1 {
		return cli.Usagef("one folder of recordings is wanted, got %d names", len(names))
	}
	if f.Out == "" {
		return cli.Usagef("-out is empty: where should the report go?")
	}
	r, err := readReport(names[0])
	if err != nil {
		return err
	}
	type file struct{ path, text string }
	files := []file{{f.Out, r.markdown()}}
	if f.HTML != "" {
		files = append(files, file{f.HTML, r.page(record.CommandLine(e))})
	}
	for _, file := range files {
		if err := cli.CheckPlace(file.path); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := formats.WriteFile(ctx, file.path, func(w io.Writer) error { _, err := io.WriteString(w, file.text); return err }); err != nil {
			return err
		}
	}
	if e.JSON {
		return e.Object(map[string]any{"out": f.Out, "html": f.HTML, "measurements": len(r.records), "ratios": len(r.ratios)})
	}
	if e.Quiet {
		return nil
	}
	_, err = fmt.Fprintf(e.Stdout, "%d measurements and %d ratios\n", len(r.records), len(r.ratios))
	return err
}

// report is what the recordings of a folder hold.
type report struct {
	records []*record.Record
	ratios  []*record.Ratio
	notes   string
}

func readReport(folder string) (*report, error) {
	r, files := new(report), 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		records, ratios, err := record.Read(path)
		files++
		for _, x := range records {
			x.File = files
			x.Machine.RecordedIn(folder, path)
		}
		for _, x := range ratios {
			x.File = files
			x.Machine.RecordedIn(folder, path)
		}
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
		return nil, fmt.Errorf("%s: no recordings; run -record and peers -record write them", folder)
	}
	notes, err := os.ReadFile(filepath.Join(folder, notesName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.notes = strings.TrimSpace(string(notes))
	return r, nil
}

// families returns the families of processors, with the figures measured on them.
func (r *report) families() (out []*report, names []string) {
	return r.split(func(m *record.Machine) string {
		if m == nil {
			return "unknown machine"
		}
		return m.Family()
	})
}

// split returns the figures by a name that their machine is given, nil where a figure holds
// no machine. The names come in the order of the figures.
func (r *report) split(name func(*record.Machine) string) (out []*report, names []string) {
	of := func(m *record.Machine) *report {
		name := name(m)
		i := slices.Index(names, name)
		if i < 0 {
			i = len(names)
			names, out = append(names, name), append(out, new(report))
		}
		return out[i]
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
	plot         *plot.Chart // on the page only; nil without a plot
}

// sections makes the tables and plots of one family.
func (r *report) sections() (out []section) {
	settings := r.bySetting()
	peers := peerSections(settings)
	if len(peers) > 0 {
		out = append(out, inShort(settings))
	}
	out = append(out, r.machineSection())
	return append(append(out, suiteSections(settings)...), peers...)
}

// reportTerms explains the words of the tables.
const reportTerms = "Times are medians over rounds. \"Of limit\" is the time the named limit of the machine allows over the time taken: " +
	"the bytes of the model (8 a nonzero and 8 a row, less in compact layouts, x and y once) at the measured bandwidth of reading, or rows gathered in random order, or scalar multiply-adds. " +
	"It can exceed 1 where caches hold a part of the data, and where vector instructions do several of the multiply-adds at a time that the limit counts one by one. B/nnz is the peak of memory while building, per entry."

// markdown writes the report as BENCHMARKS.md.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Benchmarks\n\nMade by `pmbench report` from recorded runs; do not edit. %s\n", reportTerms)
	parts, names := r.families()
	for i, part := range parts {
		fmt.Fprintf(&b, "\n## %s\n", names[i])
		for _, s := range part.sections() {
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
	return b.String()
}
