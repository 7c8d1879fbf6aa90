package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/evaluation"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// A small set of few columns and classes is measured from end to end. Modes that mean
// nothing there are left out in one line, in the terminal and on the page, and no line is
// wider than a terminal.
func TestEvaluateSmallSet(t *testing.T) {
	longtest.Only(t)
	folder := filepath.Join(t.TempDir(), "small") + "/"
	succeed(t, "generate", "-kind", "classes", "-n", "150", "-d", "4", "-classes", "3", "-out", folder)
	out := filepath.Join(t.TempDir(), "report")
	stdout, _ := succeed(t, "evaluate", folder, "-out", out, "-seeds", "1,2", "-queries", "5")
	const missing = "pca, projection, privunit, privunit-prepared, ablation-8-dimensions, ablation-16-dimensions, ablation-32-dimensions: more dimensions to keep than the 4 that prepared rows have"
	if strings.Count(oneLine(stdout), "not available: ") != 1 || !strings.Contains(oneLine(stdout), "not available: "+missing) {
		t.Errorf("what is missing stands not once in\n%s", stdout)
	}
	if page := readFile(t, filepath.Join(out, evaluation.ReportPage)); !strings.Contains(page, missing) {
		t.Error("the page does not say what is missing")
	}
	for line := range strings.Lines(stdout) {
		if len(line) > text.LineWidth+1 && !strings.Contains(line, out) {
			t.Errorf("%d characters: %q", len(line), line)
		}
	}
	stdout, _ = succeed(t, "evaluate", folder, "-out", out, "-seeds", "1", "-queries", "5", "-dim", "3", "-modes", "pca,privunit", "-effects=false")
	if strings.Contains(stdout, "not available") {
		t.Errorf("3 of 4 dimensions are not kept:\n%s", stdout)
	}
}
