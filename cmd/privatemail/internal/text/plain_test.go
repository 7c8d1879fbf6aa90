package text

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"privatemail: embed: kernel: build csr: memory limit exceeded":              "build csr: memory limit exceeded",
		"supervised: fit: privatemail: embed: kernel: build csr: no points":         "build csr: no points",
		"sensitivity: tight: bad label table":                                       "bad label table",
		"evaluate: paper on x, seed 1: server: privatemail: embed: kernel: no room": "paper on x, seed 1: embed: no room",
		"x.npy: formats: truncated":                                                 "x.npy: truncated",
		"first\nsecond":                                                             "first second",
		"privatemail: embed: kernel: labels: bad labels: row 0":                     "bad labels: row 0",
		"no such file": "no such file",
	} {
		if got := Plain(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// A package that is added or renamed would show in messages. A name that no message
// begins with is not in the list: it may be a word of the user's.
func TestPlainKnowsEveryPackage(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Name}} {{.Dir}}", "github.com/seed-64e14a55/privatemail/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for line := range strings.Lines(string(out)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "main" {
			continue
		}
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{name, "sealed " + name} { // two packages are called server
			if slices.ContainsFunc(paths, func(file string) bool {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				return !strings.HasSuffix(file, "_test.go") && strings.Contains(string(data), `"`+name+": ")
			}) {
				ours = append(ours, name)
			}
		}
	}
	names := packageNames()
	slices.Sort(ours)
	ours = slices.Compact(ours) // two are called client
	slices.Sort(names)
	if !slices.Equal(names, ours) {
		t.Errorf("known are\n%v, there are\n%v", names, ours)
	}
}
