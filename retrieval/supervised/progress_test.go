package supervised_test

import (
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Without a function of its own Fit tells the one of the context.
func TestFitReportsToTheContext(t *testing.T) {
	x, labels := labelledRows(100, 4, 5)
	stages := map[string]bool{}
	ctx := privatemail.ReportProgress(t.Context(), func(p privatemail.Progress) { stages[p.Stage] = true })
	if _, err := supervised.Fit(ctx, newEngine(t), single(x), labels, fixed("classic")); err != nil {
		t.Fatal(err)
	}
	if !stages["map"] || !stages["steps"] {
		t.Errorf("told of %v", stages)
	}
}
