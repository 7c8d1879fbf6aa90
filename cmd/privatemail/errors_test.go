package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func TestPlain(t *testing.T) {
	for message, want := range map[string]string{
		"privatemail: embed: kernel: build csr: memory budget exceeded":             "build csr: memory budget exceeded",
		"supervised: fit: privatemail: embed: kernel: build csr: no points":         "build csr: no points",
		"sensitivity: tight: bad label table":                                       "bad label table",
		"evaluate: paper on x, seed 1: server: privatemail: embed: kernel: no room": "paper on x, seed 1: embed: no room",
		"x.npy: formats: truncated":                                                 "x.npy: truncated",
		"first\nsecond":                                                             "first second",
		"privatemail: embed: kernel: labels: bad labels: row 0":                     "bad labels: row 0",
		"no such file": "no such file",
	} {
		if got := plain(message); got != want {
			t.Errorf("%q became %q, want %q", message, got, want)
		}
	}
}

// A file may be called as a package is, and the message has to say which one it is about.
func TestPlainKeepsNamesOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"report", "client", "digits", "map", "release"} {
		refuse(t, cli.Failed, []string{"embed", name, "-sigma", "1", "-out", "z.npy"}, "embed: "+name+": no such file")
		refuse(t, cli.Failed, []string{"continue", name, "-out", "z.npy"}, "continue: "+name+": no such file")
		refuse(t, cli.Failed, []string{"budget", "show", name}, "budget: "+name+": no such ledger")
	}
	if got := plain("mechanism: x: client: is a folder", "-ledger=client"); got != "x: client: is a folder" {
		t.Errorf("%q", got)
	}
}

// What a file of labels holds is in no message: not the first record of one without a header,
// which could be taken for names of columns, and not a label that is refused later.
func TestMessagesHoldNoLabels(t *testing.T) {
	t.Chdir(t.TempDir())
	writeMatrix(t, "x.npy", 2, 2, []float32{1, 0, 0, 1})
	for _, c := range []struct{ verb, file, words string }{
		{"embed -sigma 1 -alpha 1", "Alice,Hodgkin\nBob,Crohn\n", "y.csv: line 1: 2 columns"},
		{"fit", "Alice,Hodgkin\nBob,Crohn\n", "y.csv: line 1: 2 columns"},
		{"embed -sigma 1 -alpha 1", "Hodgkin\nCrohn\nCrohn\n", "y.csv: 3 labels"},
		{"embed -sigma 1 -alpha 1", "label\n7305918264\n0\n", "y.csv: line 2"},
		{"embed -sigma 1 -alpha 1", "0\n-730591\n", "y.csv: bad labels: row 2"},
		{"embed -sigma 1 -alpha 1 -unlabelled", "0\n-730591\n", "y.csv: bad labels: row 2"},
	} {
		if err := os.WriteFile("y.csv", []byte(c.file), 0o666); err != nil {
			t.Fatal(err)
		}
		args := append(strings.Fields(c.verb), "x.npy", "-labels", "y.csv", "-out", "z.npy")
		refuse(t, cli.Failed, args, c.words)
		_, _, stderr := call(args...)
		for _, secret := range []string{"Alice", "Bob", "Hodgkin", "Crohn", "7305"} {
			if strings.Contains(strings.ToLower(stderr), strings.ToLower(secret)) {
				t.Errorf("privatemail %s shows %s: %s", c.verb, secret, stderr)
			}
		}
	}
}

// A package that is added or renamed would show in messages. A name that no message
// begins with is not in the list: it may be a word of the user's.
func TestPlainKnowsEveryPackage(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Name}} {{.Dir}}", "../../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for line := range strings.Lines(string(out)) {
		name, folder, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "main" {
			continue
		}
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{name, "sealed " + name} { // two packages are called server
			if slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				return !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), `"`+name+": ")
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
