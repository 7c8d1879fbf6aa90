package evaluation

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// toyTables are figures of two data modes, one without an epsilon, at n epsilons.
func toyTables(n int) *studyTables {
	t := &studyTables{modes: []evaluate.Mode{
		{Name: "open", Title: "open"},
		{Name: "lists", Title: "lists, with quite some words in their title"},
		{Name: "closed", Title: "closed", Assumes: "that it is hard"},
		{Name: "leaky", Title: "leaky", Warning: "label disclosed"},
		{Name: "gone", Title: "gone"},
	}}
	add := func(mode string, epsilon float64, asked int, figures map[evaluate.Metric]float64) {
		l := report.Line{Mode: mode, Params: evaluate.Params{Epsilon: epsilon}, Gallery: 1000, Classes: 40, Asked: asked, Figures: make(map[string]report.Bounds)}
		for m, v := range figures {
			l.Figures[string(m)] = report.Bounds{Mean: v}
		}
		if mode == "lists" {
			l.Download = 0.125
			l.Volume = evaluate.Volume{Float32: evaluate.Traffic{Query: 32_500_000, Once: 16_300_000}, Int8: evaluate.Traffic{Query: 9.0e6, Once: 4.52e6}, AllRows: 68e6}
		}
		t.lines = append(t.lines, l)
	}
	add("open", 0, 90, map[evaluate.Metric]float64{evaluate.RecallAt1: .5, evaluate.RecallAt8: 1, evaluate.RandomRecall1: .025, evaluate.RandomRecall8: .183})
	add("closed", 0, 90, map[evaluate.Metric]float64{evaluate.RecallAt1: .49, evaluate.RecallAt8: .98, evaluate.OverlapAt8: .96})
	t.lines[1].Volume.Sealed = evaluate.Exchange{Up: 768_000, Down: 80_000, Once: 16.7e6, Seconds: .0125}
	for i := range n {
		e := float64(i + 1)
		t.epsilons = append(t.epsilons, e)
		add("lists", e, 90, map[evaluate.Metric]float64{
			evaluate.RecallAt1: .1 + e/1000, evaluate.RecallAt8: .2 + e/1000, evaluate.OverlapAt8: .3 + e/1000,
			evaluate.NoQueryRecall1: .4, evaluate.NoQueryRecall8: .5, evaluate.NoQueryOverlap8: .6, evaluate.CompactOverlap8: .7,
		})
		add("leaky", e, 40, map[evaluate.Metric]float64{evaluate.RecallAt8: .84, evaluate.RandomRecall8: .999})
	}
	return t
}

func TestStudyTables(t *testing.T) {
	var b strings.Builder
	tables := toyTables(2)
	tables.open(&b)
	tables.recalls(&b)
	tables.overlaps(&b)
	tables.volumes(&b)
	tables.sealed(&b)
	want := `
no epsilon        R@1   R@8
  8 random rows  .025  .183
  open           .500 1.000

                                                epsilon 1   epsilon 2
                                                R@1   R@8   R@1   R@8
  8 random rows                                .025  .183  .025  .183
  ceiling, 8 rows sent                               .405        .649
  lists, with quite some words in their title  .101  .201  .102  .202
    the same download, no query                .400  .500  .400  .500
! leaky                                              .840        .840

overlap@8                                       epsilon 1   epsilon 2
  8 random rows                                      .008        .008
  lists, with quite some words in their title        .301        .302
    of int8                                          .700        .700
    the same download, no query                      .600        .600

bytes a query                                   epsilon 1   epsilon 2
  lists, with quite some words in their title       32.5M       32.5M
    of int8                                         9.00M       9.00M
    once                                            16.3M       16.3M
    once, of int8                                   4.52M       4.52M
  all rows, int8, once                              68.0M       68.0M

encrypted, no epsilon   R@1   R@8  overlap@8  bytes up  bytes down  once  server
  8 random rows        .025  .183       .008
  closed               .490  .980       .960      768k       80.0k 16.7M 12.5 ms
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	// Without lists there is the one line.
	b.Reset()
	tables.lines = tables.lines[:1]
	tables.volumes(&b)
	tables.lines[0].Volume.AllRows = 1234
	tables.volumes(&b)
	if got := b.String(); got != "\nall rows, once: 1.23k bytes\n" {
		t.Errorf("got %q", got)
	}
	// What is promised stands next to what it follows from.
	b.Reset()
	tables.promised(&b)
	if b.Len() > 0 {
		t.Errorf("a table of nothing:\n%s", b.String())
	}
	tables.lines[0].Facts = map[string]float64{"gamma/2": .25, "L delta": 1.5, "A_delta": 2, "promised by the theorem": 0, "promised by the direct argument": .875}
	tables.lines[0].Note = "The theorem says nothing here."
	tables.promised(&b)
	const promised = `
classes apart   gamma/2   L delta   A_delta   theorem    direct
  open             0.25       1.5         2                .875
  open. The theorem says nothing here.
`
	if got := b.String(); got != promised {
		t.Errorf("got\n%s", got)
	}
	tables = toyTables(2)
	if !tables.has("leaky") || tables.has("gone") {
		t.Error("which modes have figures")
	}
}

// Many epsilons take several tables, none wider than a line, and no figure is lost.
func TestStudyTablesOfManyEpsilons(t *testing.T) {
	var b strings.Builder
	tables := toyTables(12)
	tables.recalls(&b)
	tables.overlaps(&b)
	for line := range strings.Lines(b.String()) {
		if len(line) > text.LineWidth+1 || strings.HasSuffix(line, " \n") {
			t.Errorf("%d characters: %q", len(line), line)
		}
	}
	words := strings.Fields(b.String())
	for i := range 12 {
		for _, first := range []int{1, 2, 3} {
			if figure := fmt.Sprintf(".%d%02d", first, i+1); !slices.Contains(words, figure) {
				t.Errorf("no %s in\n%s", figure, b.String())
			}
		}
	}
}
