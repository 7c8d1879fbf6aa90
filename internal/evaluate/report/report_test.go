package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

var testModes = []evaluate.Mode{
	{Name: "open", Title: "open <search>", Protects: "Nothing."},
	{Name: "noisy", Title: "noisy & small", Protects: "The query.", Bounded: true, Uses: evaluate.UsesEpsilon | evaluate.UsesColumns, Defaults: evaluate.Params{Epsilon: 1, Delta: 1e-5, Dim: 4}},
	{Name: "lists", Title: "lists", Protects: "The query.", Uses: evaluate.UsesEpsilon, Defaults: evaluate.Params{Epsilon: 1}},
	{Name: "whole", Title: "whole gallery", Protects: "All."},
	{Name: "sealed", Title: "sealed <8>", Protects: "There is no epsilon.", Assumes: "All, if it is hard."},
	{Name: "leaky", Title: "leaky", Protects: "Nothing.", Warning: "label disclosed", Uses: evaluate.UsesEpsilon, Defaults: evaluate.Params{Epsilon: 1, Delta: 1e-5}},
	{Name: "steps", Title: "steps", Protects: "Nothing.", Uses: evaluate.UsesSteps, Defaults: evaluate.Params{Steps: 5}},
	{Name: "unused", Title: "never measured"},
}

func testReport() *Report {
	r := &Report{Title: "A <title>", Command: "privatemail evaluate x && y", Modes: testModes, Footer: "The end."}
	add := func(mode string, p evaluate.Params, figures map[evaluate.Metric]float64) {
		for seed := range uint64(3) {
			moved := make(map[evaluate.Metric]float64)
			for m, v := range figures {
				moved[m] = v + 0.01*float64(seed)
			}
			moved[evaluate.RandomRecall1], moved[evaluate.RandomRecall8] = .011, .078
			c := evaluate.Cell{Data: "birds", Mode: mode, Seed: seed, Params: p}
			download, base, volume := 125., 62., evaluate.Volume{}
			switch mode {
			case "lists":
				volume = evaluate.Volume{Float32: evaluate.Traffic{Query: 1e6, Once: 2e5}, Int8: evaluate.Traffic{Query: 3e5, Once: 6e4}, AllRows: 2.5e6}
			case "sealed":
				download, base, volume = 0, 0, evaluate.Volume{Sealed: evaluate.Exchange{Up: 57e3, Down: 6e3, Once: 1.1e6, Seconds: 5e-5}}
			case "whole":
				download, base, volume = 0, 1000, evaluate.Volume{Int8: evaluate.Traffic{Once: 2.5e6}, AllRows: 2.5e6}
			}
			r.Records = append(r.Records, evaluate.Record{
				Key: fmt.Sprintf("%s-%d", mode, seed), Cell: c, Asked: 100, Classes: 98, Gallery: 1000, Figures: moved, Download: download, Base: base, Volume: volume,
				Facts: map[string]float64{noiseFact: 3 / (p.Epsilon + 1), objectiveFirst: 10, objectiveLast: 10 / float64(p.Steps+1)}, Seconds: 0.5,
			})
		}
	}
	add("open", evaluate.Params{}, map[evaluate.Metric]float64{evaluate.RecallAt1: .5, evaluate.RecallAt8: .8, evaluate.PrecisionAt8: .4, evaluate.OverlapAt8: .98})
	add("whole", evaluate.Params{}, map[evaluate.Metric]float64{evaluate.RecallAt1: .5, evaluate.RecallAt8: .8, evaluate.OverlapAt8: .97})
	add("sealed", evaluate.Params{}, map[evaluate.Metric]float64{evaluate.RecallAt1: .5, evaluate.RecallAt8: .8, evaluate.PrecisionAt8: .4, evaluate.OverlapAt8: .961})
	for _, epsilon := range []float64{0.5, 2, 8} {
		add("noisy", evaluate.Params{Epsilon: epsilon, Delta: 1e-5, Dim: 4}, map[evaluate.Metric]float64{evaluate.RecallAt8: .1 + epsilon/100})
		add("leaky", evaluate.Params{Epsilon: epsilon, Delta: 1e-5}, map[evaluate.Metric]float64{evaluate.RecallAt8: .84})
		add("lists", evaluate.Params{Epsilon: epsilon}, map[evaluate.Metric]float64{
			evaluate.RecallAt1: .3, evaluate.RecallAt8: .6, evaluate.OverlapAt8: .1 * epsilon,
			evaluate.NoQueryRecall1: .2, evaluate.NoQueryRecall8: .71, evaluate.NoQueryOverlap8: .18, evaluate.CompactOverlap8: .09 * epsilon,
		})
	}
	for _, k := range []int{2, 16} {
		add("noisy", evaluate.Params{Epsilon: 8, Delta: 1e-5, Dim: k}, map[evaluate.Metric]float64{evaluate.RecallAt8: .15})
	}
	for _, steps := range []int{1, 5, 9} {
		add("steps", evaluate.Params{Steps: steps}, map[evaluate.Metric]float64{evaluate.RecallAt8: .1})
	}
	r.Groups = []Group{{Title: "Pictures", Text: "Two.", Pictures: []*plot.Scatter{
		{Title: "a", Panels: []plot.Panel{{Points: []plot.Point{{X: 0, Y: 0}, {X: 1, Y: 1}, {X: 2, Y: 0}}}}, Labels: []int32{0, 40, -1}, Ringed: []int{1}},
		{Title: "b", Panels: []plot.Panel{{Points: make([]plot.Point, 2)}}, Labels: []int32{5, 5}},
	}}}
	return r
}

func page1(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPage(t *testing.T) {
	text := page1(t, testReport())
	if again := page1(t, testReport()); again != text {
		t.Error("the same records gave another page")
	}
	for _, words := range []string{
		"leaky (label disclosed)</text>", // in the picture, not only in the table
		"A &lt;title&gt;", "privatemail evaluate x &amp;&amp; y", "open &lt;search&gt;", "noisy &amp; small",
		`href="#words"`, `id="words"`, "<dt>prepared rows</dt>", "<dt>8 random rows</dt>", "<dt>base sample</dt>", "<dt>all rows</dt>", "<dt>of int8</dt>", "Bytes that travel", "<dt>overlap@8</dt>",
		"98 classes", "ceiling", "no query", "label disclosed", "What each mode protects", "The end.", "8 random rows",
		CeilingNote, FetchingNote, "equally likely classes and replace-one", "replace-one and neighbours that are equally likely",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("no %q", words)
		}
	}
	for _, words := range []string{"never measured", "NaN", "Inf", "<script", "<link", "src=", "url(", "@import", "ZgotmplZ"} {
		if strings.Contains(text, words) {
			t.Errorf("the page has %q", words)
		}
	}
}

var svgs = regexp.MustCompile(`(?s)<svg.*?</svg>`)

// Every picture is well-formed, and every one over epsilon has the ceiling.
func TestPictures(t *testing.T) {
	all := svgs.FindAllString(page1(t, testReport()), -1)
	overEpsilon := 0
	for _, s := range all {
		d := xml.NewDecoder(strings.NewReader(s))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v in\n%s", err, s)
			}
		}
		if strings.Contains(s, "against epsilon") {
			overEpsilon++
			if !strings.Contains(s, ">ceiling") {
				t.Errorf("no ceiling in\n%s", s)
			}
		}
	}
	// R@8 and overlap over epsilon, k, steps, objective, bytes over rows, and two scatters.
	if len(all) != 8 || overEpsilon != 2 {
		t.Errorf("%d pictures, %d over epsilon", len(all), overEpsilon)
	}
}

// Columns without a query stand next to each figure of lists.
func TestNoQueryColumns(t *testing.T) {
	r := testReport()
	d := newDataset("birds", r.Modes, evaluate.Summarize(r.Records))
	table := d.fetch()
	if table == nil || len(table.Rows) != 5 {
		t.Fatalf("%+v", table)
	}
	for i, head := range table.Head {
		if strings.Contains(head, "@") && table.Head[i+1] != "no query" {
			t.Errorf("%s stands next to %s", head, table.Head[i+1])
		}
	}
	if got := fmt.Sprint(table.Rows[1].Cells); !strings.Contains(got, ".125 + .062 once") || !strings.Contains(got, ".190") {
		t.Errorf("%s", got)
	}
}

// Wherever there are lists, taking all stands next to them, in both tables, and not among the
// modes that hide nothing.
func TestAllRowsBeside(t *testing.T) {
	r := testReport()
	d := newDataset("birds", r.Modes, evaluate.Summarize(r.Records))
	fetch, volume := d.fetch(), d.volume()
	if got := fmt.Sprint(fetch.Rows[4].Cells); !strings.Contains(got, "whole gallery") || !strings.Contains(got, "1.000 once") || strings.Count(got, ".980") != 2 {
		t.Errorf("%s", got)
	}
	if got := fmt.Sprint(fetch.Rows[3].Cells); !strings.Contains(got, ".730") {
		t.Errorf("no overlap of int8 in %s", got)
	}
	if len(volume.Rows) != 4 {
		t.Fatalf("%+v", volume)
	}
	for i, want := range []string{
		"lists 0.5 1.00M 300k 200k 60.0k 2.50M", " 2 1.00M 300k 200k 60.0k 2.50M", " 8 1.00M 300k 200k 60.0k 2.50M",
		"whole gallery – – – – 2.50M 2.50M",
	} {
		var words []string
		for _, c := range volume.Rows[i].Cells {
			words = append(words, c.Text)
		}
		if got := strings.Join(words, " "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for _, row := range d.open().Rows {
		if row.Cells[0].Text == "whole gallery" {
			t.Error("taking all stands among the modes that hide nothing")
		}
	}
	if !strings.Contains(d.overlapChart().Element(), "whole gallery") || strings.Contains(d.recallChart().Element(), "whole gallery") {
		t.Error("taking all is in the wrong picture")
	}
	// A run of mode cells alone has the bytes as well.
	d = newDataset("birds", r.Modes[2:3], evaluate.Summarize(r.Records))
	if volume := d.volume(); volume.Rows[0].Cells[6].Text != "2.50M" {
		t.Errorf("%+v", volume.Rows[0])
	}
}

func TestShowBytes(t *testing.T) {
	for v, want := range map[float64]string{
		1: "1 B", 999: "999 B", 999.7: "1.00k", 1000: "1.00k", 9994: "9.99k", 9996: "10.0k", 99940: "99.9k", 99960: "100k", 999600: "1.00M", 32.5e6: "32.5M", 2.5e9: "2.50G", 7e15: "7000T",
	} {
		if got := ShowBytes(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}

// Each table of recalls says what random rows find.
func TestRandomRows(t *testing.T) {
	r := testReport()
	r.Records = append(r.Records, evaluate.Record{
		Cell: evaluate.Cell{Data: "birds", Mode: "apart"}, Asked: 40, Classes: 98, Gallery: 1000,
		Figures: map[evaluate.Metric]float64{evaluate.RecallAt8: .9, evaluate.RandomRecall8: .5}, // of fewer queries
	})
	modes := append(testModes, evaluate.Mode{Name: "apart", Title: "apart", Warning: "label disclosed"})
	d := newDataset("birds", modes, evaluate.Summarize(r.Records))
	recall8, recall1 := d.recall(evaluate.RecallAt8, evaluate.RandomRecall8), d.recall(evaluate.RecallAt1, evaluate.RandomRecall1)
	if recall1 != nil {
		t.Errorf("R@1 of modes without: %+v", recall1)
	}
	for name, c := range map[string]struct {
		table    *table
		at, rows int
		cells    string
	}{
		"open":      {d.open(), 0, 3, ".011 .078 .011 .008"},
		"published": {d.published(), 0, 2, ".078 –"},
		"recall":    {recall8, 1, 4, ".078 .078 .078"},
		"fetch":     {d.fetch(), 0, 5, "   .008   .011  .078 "},
	} {
		if c.table == nil || len(c.table.Rows) != c.rows {
			t.Errorf("%s: %+v", name, c.table)
			continue
		}
		var words []string
		for _, one := range c.table.Rows[c.at].Cells {
			words = append(words, one.Text)
		}
		if got := strings.Join(words, " "); got != "8 random rows "+c.cells || !c.table.Rows[c.at].Bound {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// What is missing for one reason stands in one line; an epsilon is named where others
// have figures, and seeds where others have.
func TestMissing(t *testing.T) {
	r := testReport()
	add := func(mode, why string, seed uint64, p evaluate.Params) {
		r.Records = append(r.Records, evaluate.Record{Cell: evaluate.Cell{Data: "birds", Mode: mode, Seed: seed, Params: p}, Unavailable: why})
	}
	for seed := range uint64(2) {
		add("wide", "few columns", seed, evaluate.Params{Epsilon: 1})
		add("wide", "few columns", seed, evaluate.Params{Epsilon: 2})
		add("wider", "few columns", seed, evaluate.Params{})
		add("lists", "few rows", seed, evaluate.Params{Epsilon: 40})
		add("never", "4 rows", seed, evaluate.Params{Epsilon: 1})
		add("never", "5 rows", seed, evaluate.Params{Epsilon: 2})
		add("never", "5 rows", seed, evaluate.Params{Epsilon: 4})
	}
	add("open", "one class", 7, evaluate.Params{})
	r.Modes = append(r.Modes, evaluate.Mode{Name: "wide", Uses: evaluate.UsesEpsilon}, evaluate.Mode{Name: "wider"})
	want := []string{"wide, wider: few columns", "lists at epsilon 40: few rows", "never at epsilon 1: 4 rows", "never at epsilon 2 and 4: 5 rows", "open under 1 seed: one class"}
	if got := r.Missing("birds"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := r.Missing("fish"); len(got) > 0 {
		t.Errorf("%q of a set that was not measured", got)
	}
}

// Half the width is that of Student's interval, also where it leaves 0..1.
func TestShowInterval(t *testing.T) {
	s := &evaluate.Summary{Figures: map[evaluate.Metric]evaluate.Interval{
		evaluate.RecallAt1: {Mean: .5, Low: .5, High: .5},
		evaluate.RecallAt8: {Mean: .965, Low: .913, High: 1.017},
	}}
	for metric, want := range map[evaluate.Metric]cell{
		evaluate.RecallAt1: {Text: ".500"}, evaluate.RecallAt8: {Text: ".965", Half: ".052"}, evaluate.MAP: {Text: "–"},
	} {
		if got := show(s, metric); got != want {
			t.Errorf("%s: %+v", metric, got)
		}
	}
}

func TestFiles(t *testing.T) {
	r := testReport()
	var b bytes.Buffer
	if err := WriteCSV(&b, r.Records); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != len(r.Records)+1 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
	b.Reset()
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back []Line
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	for _, l := range back {
		if (l.Mode == "noisy") != (l.Ceiling != nil) {
			t.Errorf("%s has the ceiling %v", l.Mode, l.Ceiling)
		}
		if f := l.Figures["R@8"]; f.Low == nil || *f.Low >= f.Mean {
			t.Errorf("%s: %+v", l.Mode, f)
		}
	}
}

func TestRefuses(t *testing.T) {
	r := &Report{Groups: []Group{{Pictures: []*plot.Scatter{{Title: "empty"}}}}}
	if err := r.WriteHTML(io.Discard); !errors.Is(err, plot.ErrPlot) || !strings.Contains(err.Error(), "empty") {
		t.Errorf("%v", err)
	}
	broken := errors.New("full")
	if err := testReport().WriteHTML(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if err := WriteCSV(failing{broken}, nil); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
