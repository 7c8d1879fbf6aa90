package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func TestPlan(t *testing.T) {
	folder := toy(t)
	stdout, _ := succeed(t, "embed", "-plan", folder, "-sigma", "6", "-form", "paper")
	for _, words := range []string{"300 x 16, sigma 6", "operator", "seconds", "memory", "eta", "neighbours", "reason", "\n*  dense", "\n   csr", "degrees: mean", "\ndense: graph and steps are likely to take "} {
		if !strings.Contains(stdout, words) {
			t.Errorf("no %q in\n%s", words, stdout)
		}
	}
}

func TestPlanJSON(t *testing.T) {
	folder := toy(t)
	stdout, stderr := succeed(t, "embed", "-plan", "-mean-neighbours", "20", folder, "-json", "-quiet", "-beta", "3", "-normalize-rows")
	if stderr != "" {
		t.Errorf("messages with -quiet: %s", stderr)
	}
	picked := 0
	for i, line := range strings.Split(strings.TrimSpace(stdout), "\n") {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, v, "operator picked feasible seconds seconds_low seconds_high build_seconds seconds_per_step bytes peak_bytes nnz eta radius neighbours degree reason n d sigma gamma")
		if s, ok := v["seconds"].(float64); ok && !(v["seconds_low"].(float64) < s && s < v["seconds_high"].(float64)) {
			t.Errorf("%v", v)
		}
		if v["picked"] == true {
			picked++
			if i != 0 || v["operator"] != "csr" || v["radius"] == nil {
				t.Errorf("pick on line %d: %v", i, v)
			}
		}
	}
	if picked != 1 {
		t.Errorf("%d picks", picked)
	}
}

// TestPlanNothing asks for what no operator can do.
func TestPlanNothing(t *testing.T) {
	folder := toy(t)
	code, stdout, stderr := call("embed", "-plan", folder, "-mean-neighbours", "20", "-form", "paper", "-max-memory", "11000", "-dim", "1")
	if code != cli.Failed || !strings.Contains(stderr, "no operator can serve") || !strings.Contains(stdout, "cannot serve: needs") || strings.Contains(stdout, "*") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
}

func TestPlanRefuses(t *testing.T) {
	refuse(t, cli.Usage, []string{"embed", "-plan"}, "FEATURES is missing")
	refuse(t, cli.Usage, []string{"embed", "-plan", "x", "-alpha", "1"}, "-sigma", "-mean-neighbours", "-neighbours")
	refuse(t, cli.Usage, []string{"embed", "-plan", "x", "-sigma", "1", "-beta", "1", "-dim", "2"}, "-beta and -dim exclude")
	gone := filepath.Join(t.TempDir(), "x.npy")
	refuse(t, cli.Failed, []string{"embed", "-plan", gone, "-sigma", "1"}, gone, "no such file")
	refuse(t, cli.Failed, []string{"embed", "-plan", toy(t), "-mean-neighbours", "300"}, "mean degree 300", "299")
}
