package main

import (
	"os"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A file may be called as a package is, and the message has to say which one it is about.
func TestPlainKeepsNamesOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"report", "client", "digits", "map", "release"} {
		refuse(t, cli.Failed, []string{"embed", name, "-sigma", "1", "-out", "z.npy"}, "embed: "+name+": no such file")
		refuse(t, cli.Failed, []string{"continue", name, "-out", "z.npy"}, "continue: "+name+": no such file")
		refuse(t, cli.Failed, []string{"budget", "show", name}, "budget: "+name+": no such ledger")
	}
	if got := text.Plain("mechanism: x: client: is a folder", "-ledger=client"); got != "x: client: is a folder" {
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
		{"embed -sigma 1 -alpha 1", "0\n-730591\n", "y.csv: bad labels: row 2"},
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
