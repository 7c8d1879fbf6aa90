//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// scalePage is docs/scale.md.
func scalePage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The tables of the model on the page are what the commands above them print.
func TestModelOnThePage(t *testing.T) {
	found := regexp.MustCompile("(?s)\n    pmbench (model[^\n]*)\n\n```\n(.*?)```\n").FindAllStringSubmatch(scalePage(t), -1)
	if len(found) != 2 {
		t.Fatalf("%d tables", len(found))
	}
	for _, f := range found {
		if code, stdout, stderr := call(strings.Fields(f[1])...); code != cli.OK || stdout != f[2] {
			t.Errorf("pmbench %s: exit code %d: %s\n%s\nthe page has\n%s", f[1], code, stderr, stdout, f[2])
		}
	}
}

// Shells take the scripts of the page. Its job for Kubernetes has no tabs, is indented by
// pairs of spaces, and starts as many ranks as it has workers.
func TestRecipesOnThePage(t *testing.T) {
	blocks := map[string]string{}
	for _, f := range regexp.MustCompile("(?s)\n```([a-z]+)\n(.*?)```\n").FindAllStringSubmatch(scalePage(t), -1) {
		blocks[f[1]] = f[2]
	}
	script := exec.Command("bash", "-n")
	script.Stdin = strings.NewReader(blocks["sh"])
	if out, err := script.CombinedOutput(); err != nil || !strings.HasPrefix(blocks["sh"], "#!/bin/bash\n#SBATCH ") {
		t.Errorf("%v: %s\n%s", err, out, blocks["sh"])
	}
	job := blocks["yaml"]
	for line := range strings.Lines(job) {
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if strings.Contains(line, "\t") || indent%2 != 0 && !strings.HasPrefix(strings.TrimSpace(line), `"`) {
			t.Errorf("%q", line)
		}
	}
	workers := regexp.MustCompile(`Worker:\n +replicas: (\d+)\n`).FindStringSubmatch(job)
	ranks := regexp.MustCompile(`args: \["-n", "(\d+)"`).FindStringSubmatch(job)
	if workers == nil || ranks == nil || workers[1] != ranks[1] || !strings.Contains(job, "\nkind: MPIJob\n") {
		t.Errorf("%q workers, %q ranks", workers, ranks)
	}
}
