package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
)

// asCommand makes a test binary the command itself.
const asCommand = "PMBENCH_AS_COMMAND"

// withCache is the value of asCommand with which the command keeps files in the user's cache
// folder, as it does by itself.
const withCache = "with cache"

func TestMain(m *testing.M) {
	switch os.Getenv(asCommand) {
	case "":
	case withCache:
		main()
	default: // the folder of the user who tests stays as it is
		program().ClusterMain()
	}
	goleak.VerifyTestMain(m)
}

// call runs the command in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, messages bytes.Buffer
	code = program().Run(context.Background(), args, &out, &messages)
	return code, out.String(), messages.String()
}

// refuse runs the command and wants an exit code and one line with all words.
func refuse(t *testing.T, want int, args []string, words ...string) {
	t.Helper()
	code, stdout, stderr := call(args...)
	if code != want {
		t.Errorf("pmbench %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, stderr)
	}
	if stdout != "" {
		t.Errorf("pmbench %s: standard output has %q", strings.Join(args, " "), stdout)
	}
	if strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "pmbench: ") {
		t.Errorf("pmbench %s: %q is not one line that begins with the name", strings.Join(args, " "), stderr)
	}
	for _, w := range words {
		if !strings.Contains(stderr, w) {
			t.Errorf("message %q does not contain %q", stderr, w)
		}
	}
}

func TestWrongUsage(t *testing.T) {
	for _, c := range []struct {
		args  string
		words string
	}{
		{"fly", "verb"},
		{"rnu", "did you mean run?"},
		{"comparee a b", "did you mean compare?"},
		{"run", "-suite"},
		{"run -suite nothing", "nothing"},
		{"run -suite smpm", "did you mean spmm?"},
		{"run -suite spmm,iterat", "did you mean iterate?"},
		{"run -suite spmm,all", "no suite \"all\"; want"},
		{"run -suit spmm", "did you mean -suite?"},
		{"run -suite spmm -case [", "-case"},
		{"run -suite spmm -case zebra", "zebra"},
		{"run -suite spmm -count 0", "count"},
		{"run -suite spmm x", "x"},
		{"run -suite spmm -n 1000", "-n is for suites sealed and ranks"},
		{"run -fast", "-fast"},
		{"compare one", "two"},
		{"compare a b -threshold -1", "threshold"},
		{"compare a b -metric=", "metric"},
		{"peers -peer [", "-peer"},
		{"peers -peer matlab", "Eigen"},
		{"ab", "revision"},
		{"ab HEAD", "-suite"},
		{"ab HEAD -suite stp", "did you mean step?"},
		{"ab HEAD -suite step -case [", "-case"},
		{"ab HEAD -suite spmm -count 9", "10"},
		{"peers -count 4", "5"},
		{"peers -suite step", "step"},
		{"peers -suite serch", "did you mean search?"},
		{"ranks -steal -1", "-steal"},
		{"ranks -steal NaN", "-steal"},
		{"version 2", "2"},
		{"peers x", "x"},
		{"report", "folder"},
		{"help fly", "fly"},
		{"help run ab", "one"},
	} {
		refuse(t, cli.Usage, strings.Fields(c.args), c.words)
	}
	if code, stdout, stderr := call(); code != cli.Usage || stdout != "" || !strings.Contains(stderr, "usage:") {
		t.Errorf("without arguments: exit code %d, %q, %q", code, stdout, stderr)
	}
}

func TestFilesThatAreMissing(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "empty.txt")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(folder, "broken.jsonl")
	if err := os.WriteFile(broken, []byte("{\"suite\":\"spmm\"}\n{\"n\":1}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	absent := filepath.Join(folder, "absent")
	refuse(t, cli.Failed, []string{"compare", absent, file}, "absent", "no such file")
	refuse(t, cli.Failed, []string{"compare", file, file}, "empty.txt", "no benchmark lines")
	refuse(t, cli.Failed, []string{"run", "-suite", "spmm", "-out", filepath.Join(absent, "x.txt")}, "there is no folder")
	refuse(t, cli.Failed, []string{"run", "-suite", "spmm", "-out", folder}, "is a folder")
	refuse(t, cli.Failed, []string{"roofline", broken}, "broken.jsonl", "object 2")
	refuse(t, cli.Failed, []string{"report", absent}, "no such folder")
	page := filepath.Join(folder, "page.md")
	refuse(t, cli.Failed, []string{"report", filepath.Join("testdata", "report"), "-out", page, "-html", filepath.Join(absent, "x.html")}, "there is no folder")
	if _, err := os.Stat(page); err == nil {
		t.Error("half of the report was written")
	}
	refuse(t, cli.Failed, []string{"report", folder}, "broken.jsonl")
	refuse(t, cli.Usage, []string{"report", filepath.Join("testdata", "report"), "-out", ""}, "-out")
}

// Every verb explains itself, in the package comment too, and its examples parse.
func TestHelp(t *testing.T) {
	documented, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range program().All() {
		if !strings.Contains(string(documented), v.Summary) {
			t.Errorf("%s: its summary is not in the package comment", v.Name)
		}
		for _, line := range v.Examples {
			line, _, _ = strings.Cut(line, ">")
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			// With -h a command is read to its end and not carried out.
			if code, _, stderr := call(append(words[1:], "-h")...); words[0] != "pmbench" || code != cli.OK {
				t.Errorf("%s: example %q: %s", v.Name, line, stderr)
			}
		}
	}
	for _, s := range suites.All() {
		if !strings.Contains(string(documented), s.About) {
			t.Errorf("suite %s is not in the package comment", s.Name)
		}
	}
}

func TestInterruptedBeforeItBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, messages bytes.Buffer
	code := program().Run(ctx, []string{"run", "-suite", "private", "-no-limits", "-quiet"}, &out, &messages)
	if code != cli.Interrupted || !strings.Contains(messages.String(), "interrupted") {
		t.Errorf("exit code %d, %q", code, messages.String())
	}
}

func TestVersion(t *testing.T) {
	code, stdout, _ := call("version")
	if code != cli.OK || !strings.HasPrefix(stdout, "pmbench ") || !strings.Contains(stdout, measure.Level()) {
		t.Errorf("exit code %d, %q", code, stdout)
	}
	_, stdout, _ = call("version", "-json")
	if v := object(t, stdout); v["go"] != runtime.Version() || v["simd"] != measure.Level() {
		t.Errorf("%s", stdout)
	}
}

// object parses a line of JSON.
func object(t *testing.T, line string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(line), &v); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	return v
}

func TestChoicesOfAnEarlierProcess(t *testing.T) {
	clitest.EarlierChoices(t, asCommand+"="+withCache)
}
