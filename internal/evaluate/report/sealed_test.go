package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// The sizes of the specification, to the digits that it gives.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		n                                     int
		up, down, hint, norms, allRows, cells string
	}{
		{5_424, "56.8k", "5.89k", "1.04M", "13.6k", "369k", "48.8k"},
		{1_000_000, "768k", "80.0k", "14.1M", "2.50M", "68.0M", "9.00M"},
		{10_000_000, "2.43M", "253k", "44.5M", "25.0M", "680M", "90.0M"},
		{100_000_000, "7.68M", "800k", "141M", "250M", "6.80G", "900M"},
	} {
		s := sizesOf(c.n, 64)
		got := []string{ShowBytes(s.up), ShowBytes(s.down), ShowBytes(s.hint), ShowBytes(s.norms), ShowBytes(s.allRows), ShowBytes(s.cells)}
		if want := []string{c.up, c.down, c.hint, c.norms, c.allRows, c.cells}; !slices.Equal(got, want) {
			t.Errorf("%d rows: %v, want %v", c.n, got, want)
		}
		if s.once() <= s.hint+s.norms {
			t.Errorf("%d rows: no centres", c.n)
		}
	}
	if s := sizesOf(10, 2); s.up != 3*4*4*2 || s.down != 4*4*4 { // 4 cells of 4 slots, 4 probes
		t.Errorf("%+v", s)
	}
}

// Encrypted queries have a table, a line in the picture of overlaps and a column of what they
// rest on. No table has them next to an epsilon.
func TestSealedOnThePage(t *testing.T) {
	r := testReport()
	text := page1(t, r)
	for _, words := range []string{
		"Encrypted queries, hidden under an assumption", "57.0k", "6.00k", "1.10M", "50 µs", AssumptionNote, "<dt>sealed</dt>", "<dt>hint</dt>",
		"hidden by encryption, under an assumption", "All, if it is hard.", "Against the size of the gallery", "100000000", "sealed, a query, measured",
	} {
		if !strings.Contains(text, words) {
			t.Errorf("no %q", words)
		}
	}
	d := newDataset("birds", r.Modes, evaluate.Summarize(r.Records))
	for _, table := range []*table{d.open(), d.noise(), d.fetch(), d.volume(), d.recall(evaluate.RecallAt8, evaluate.RandomRecall8)} {
		for _, row := range table.Rows {
			if row.Cells[0].Text == "sealed <8>" {
				t.Errorf("%s: has the encrypted mode", table.Caption)
			}
		}
	}
	if s := d.sealed(); len(s.Rows) != 1 || s.Rows[0].Cells[4].Text != ".971" {
		t.Errorf("%+v", s)
	}
	if slices.ContainsFunc(d.recallChart().Series, func(s plot.Series) bool { return s.Name == "sealed <8>" }) || !slices.ContainsFunc(d.overlapChart().Series, func(s plot.Series) bool { return s.Name == "sealed <8>" }) {
		t.Error("in the wrong picture")
	}
	r.Records = slices.DeleteFunc(r.Records, func(c evaluate.Record) bool { return c.Mode == "sealed" })
	text = page1(t, r)
	for _, words := range []string{"Encrypted", "Against the size", "under an assumption", "<dt>hint</dt>"} {
		if strings.Contains(text, words) {
			t.Errorf("without such a mode the page has %q", words)
		}
	}
}

func TestShowSeconds(t *testing.T) {
	for v, want := range map[float64]string{2.5: "2.5 s", .0325: "32.5 ms", .00005: "50 µs", .9999: "1 s"} {
		if got := ShowSeconds(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
}
