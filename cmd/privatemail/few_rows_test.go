package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// textIn writes a file of text into a folder and returns its path.
func textIn(t *testing.T, folder, name, text string) string {
	t.Helper()
	path := filepath.Join(folder, name)
	writeText(t, path, text)
	return path
}

// An empty file, a header alone and one row are called that, by every verb that wants rows.
func TestFewRowsAreSaid(t *testing.T) {
	temp := t.TempDir()
	model, set := filepath.Join(temp, "m.model"), toy(t)
	succeed(t, "fit", set, "-recipe", "raw", "-measure=false", "-model", model, "-quiet")
	contents := map[string]string{ // what is said of each
		textIn(t, temp, "empty.csv", ""):                  "the file is empty",
		textIn(t, temp, "blank.csv", "\n# nothing\n\n"):   "there are no rows in it",
		textIn(t, temp, "header.csv", "a,b,c\n"):          "a header in line 1, and no rows",
		textIn(t, temp, "late.tsv", "# x\na\tb\tlabel\n"): "a header in line 2, and no rows",
		textIn(t, temp, "one.csv", "1,2,3\n"):             "one row, and at least two are needed",
		textIn(t, temp, "headed.csv", "a,b,c\n1,2,3\n"):   "one row, and at least two are needed",
		textIn(t, temp, "labelled.csv", "a,label\n1,x\n"): "one row, and at least two are needed",
	}
	before := len(filesOf(t, temp))
	for file, words := range contents {
		for _, args := range [][]string{
			{"fit", file, "-out"}, {"embed", file, "-out"}, {"embed", file, "-form", "paper", "-sigma", "1", "-out"}, {"embed", "-plan", file, "-sigma", "1", "-out"},
			{"graph", file, "-neighbours", "1", "-out"}, {"search", file, "-k", "1", "-out"}, {"evaluate", file, "-modes", "raw", "-out"}, {"apply", model, file, "-out"},
			{"privatize", file, "-normalize-rows", "-sigma", "1", "-label-mode", "dropped", "-epsilon", "1", "-delta", "1e-6", "-ledger", "none", "-out"},
		} {
			out := filepath.Join(temp, "out.npy")
			switch args[0] {
			case "graph":
				out = filepath.Join(temp, "out.npz")
			case "evaluate":
				out = filepath.Join(temp, "out")
			case "apply":
				if strings.HasPrefix(words, "one row") {
					continue // is enough
				}
			}
			refuse(t, cli.Failed, append(args, out), filepath.Base(file)+": "+words+"\n")
		}
		if stdout, _ := succeed(t, "show", file); !strings.HasPrefix(words, "one row") && !strings.Contains(stdout, words) {
			t.Errorf("show %s: %s", filepath.Base(file), stdout)
		}
	}
	refuse(t, cli.Failed, []string{"fit", set, "-labels", filepath.Join(temp, "empty.csv"), "-out", filepath.Join(temp, "out.npy")}, "empty.csv: the file is empty\n")
	refuse(t, cli.Failed, []string{"search", set, filepath.Join(temp, "header.csv"), "-k", "1"}, "header.csv: a header in line 1, and no rows\n")
	if left := filesOf(t, temp); len(left) != before {
		t.Errorf("%d files, there were %d", len(left), before)
	}
}

// A column of text that looks as if it held labels is suggested, by its name where that is
// certain.
func TestColumnOfLabelsIsSuggested(t *testing.T) {
	temp := t.TempDir()
	named := textIn(t, temp, "named.csv", "a,b,breed\n1,2,cat\n2,3,dog\n4,5,cat\n7,1,dog\n")
	spaced := textIn(t, temp, "spaced.csv", "a,b,the breed\n1,2,cat\n2,3,dog\n4,5,cat\n7,1,dog\n")
	bare := textIn(t, temp, "bare.csv", "1,2,cat\n2,3,dog\n4,5,cat\n7,1,dog\n")
	numbers := textIn(t, temp, "numbers.csv", "1,2,3\n2,3,4\n")
	out := filepath.Join(temp, "out.npy")
	byName := `; the text of column 3, "breed", repeats as labels do: -label-column breed takes the labels from it`
	refuse(t, cli.Usage, []string{"fit", named, "-out", out}, byName+"\n")
	refuse(t, cli.Failed, []string{"embed", named, "-out", out}, "line 2: column 3 is not", byName+"\n")
	refuse(t, cli.Usage, []string{"embed", named, "-beta", "3", "-mean-neighbours", "2", "-out", out}, byName+"\n")
	refuse(t, cli.Usage, []string{"fit", spaced, "-out", out}, `column 3, "the breed",`, `-label-column "the breed" takes`)
	refuse(t, cli.Usage, []string{"fit", bare, "-out", out}, "the text of column 3 repeats", "-label-column 3 takes")
	if _, _, stderr := call("fit", numbers, "-out", out); strings.Contains(stderr, "repeats") {
		t.Error(stderr)
	}
	succeed(t, "embed", named, "-label-column", "breed", "-neighbours", "1", "-dim", "1", "-out", out, "-quiet")
}

// More than half as many labels as rows are asked about, and no fewer.
func TestRegressionTargetIsAskedAbout(t *testing.T) {
	temp, set := t.TempDir(), toy(t) // 300 rows
	labels := func(name string, different int) string {
		var message strings.Builder
		for i := range 300 {
			message.WriteString("x" + string(rune('a'+i%different%26)) + string(rune('a'+i%different/26)) + "\n")
		}
		return textIn(t, temp, name, message.String())
	}
	half, more := labels("half.csv", 150), labels("more.csv", 151)
	const question = "151 different labels for 300 rows, more than half as many: is this a regression target"
	for _, args := range [][]string{
		{"fit", set, "-recipe", "raw", "-measure=false", "-out", filepath.Join(temp, "a.npy"), "-labels"},
		{"embed", set, "-beta", "3", "-mean-neighbours", "8", "-out", filepath.Join(temp, "b.npy"), "-labels"},
	} {
		if _, stderr := succeed(t, append(args, more)...); !strings.Contains(stderr, "more.csv: "+question) {
			t.Errorf("%s: no question: %s", args[0], stderr)
		}
		if _, stderr := succeed(t, append(args, half)...); strings.Contains(stderr, "regression") {
			t.Errorf("%s: %s", args[0], stderr)
		}
	}
	// Whoever draws labels, or leaves them unread, is not asked.
	if _, stderr := succeed(t, "embed", set, "-labels", more, "-plot", filepath.Join(temp, "c.svg"), "-out", filepath.Join(temp, "c.npy")); strings.Contains(stderr, "regression") {
		t.Error(stderr)
	}
}
