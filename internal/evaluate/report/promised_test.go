package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// Modes with an embedding that was diagnosed have a row and a sentence, others do not.
func TestPromised(t *testing.T) {
	r := testReport()
	if d := newDataset("birds", r.Modes, evaluate.Summarize(r.Records)); d.promised() != nil || d.promises() != nil {
		t.Error("a table of nothing")
	}
	for i := range r.Records {
		if c := &r.Records[i]; c.Mode == "open" {
			c.Facts = map[string]float64{gammaFact: .25, carryFact: 1.5, spreadFact: 2, theoremFact: 0, directFact: .875}
			c.Note = "The theorem says <nothing>."
		}
	}
	d := newDataset("birds", r.Modes, evaluate.Summarize(r.Records))
	promised := d.promised()
	if len(promised.Rows) != 1 {
		t.Fatalf("%+v", promised)
	}
	var texts []string
	for _, c := range promised.Rows[0].Cells {
		texts = append(texts, c.Text)
	}
	if want := []string{"open <search>", "0.25", "1.5", "2", "–", ".875"}; !slices.Equal(texts, want) {
		t.Errorf("%q, want %q", texts, want)
	}
	var page bytes.Buffer
	if err := r.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "<li>open &lt;search&gt;. Seed 0: The theorem says &lt;nothing&gt;.</li>") {
		t.Error("no sentence on the page")
	}
	for _, l := range r.Lines() {
		if (l.Note != "") != (l.Mode == "open") {
			t.Errorf("%s: %q", l.Mode, l.Note)
		}
	}
}
