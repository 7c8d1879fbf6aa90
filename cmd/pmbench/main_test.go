package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// call runs the command in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, messages bytes.Buffer
	code = run(context.Background(), args, &out, &messages)
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
		{"run", "-suite"},
		{"run -suite nothing", "nothing"},
		{"run -suite spmm -case [", "-case"},
		{"run -suite spmm -case zebra", "zebra"},
		{"run -suite spmm -count 0", "count"},
		{"run -suite spmm x", "x"},
		{"run -fast", "-fast"},
		{"compare one", "two"},
		{"compare a b -threshold -1", "threshold"},
		{"compare a b -metric=", "metric"},
		{"ab", "revision"},
		{"ab HEAD", "-suite"},
		{"ab HEAD -suite spmm -count 9", "10"},
		{"peers -count 4", "5"},
		{"peers -suite step", "step"},
		{"peers x", "x"},
		{"report", "folder"},
		{"help fly", "fly"},
		{"help run ab", "one"},
	} {
		refuse(t, exitUsage, strings.Fields(c.args), c.words)
	}
	if code, stdout, stderr := call(); code != exitUsage || stdout != "" || !strings.Contains(stderr, "usage:") {
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
	refuse(t, exitFailed, []string{"compare", absent, file}, "absent", "no such file")
	refuse(t, exitFailed, []string{"compare", file, file}, "empty.txt", "no benchmark lines")
	refuse(t, exitFailed, []string{"run", "-suite", "spmm", "-out", filepath.Join(absent, "x.txt")}, "there is no folder")
	refuse(t, exitFailed, []string{"run", "-suite", "spmm", "-out", folder}, "is a folder")
	refuse(t, exitFailed, []string{"roofline", broken}, "broken.jsonl", "object 2")
	refuse(t, exitFailed, []string{"report", absent}, "no such folder")
	refuse(t, exitFailed, []string{"report", folder}, "broken.jsonl")
}

// Every verb explains itself: all its flags, and an example that parses.
func TestHelp(t *testing.T) {
	code, overview, _ := call("help")
	if code != exitOK {
		t.Fatal(code)
	}
	documented, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verbs() {
		if !strings.Contains(overview, v.summary) || !strings.Contains(string(documented), v.summary) {
			t.Errorf("%s: its summary is not in the overview and the package comment", v.name)
		}
		_, one, _ := call(v.name, "-h")
		_, other, _ := call("help", v.name)
		if one != other || !strings.Contains(one, "example:") {
			t.Errorf("%s: -h and help differ, or have no example", v.name)
		}
		fs := flag.NewFlagSet(v.name, flag.ContinueOnError)
		v.define(fs)
		new(env).define(fs, v)
		fs.VisitAll(func(f *flag.Flag) {
			if !strings.Contains(one, "-"+f.Name) {
				t.Errorf("%s: flag -%s is not in the help", v.name, f.Name)
			}
		})
		for _, line := range v.examples {
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			if at := strings.Index(line, ">"); at >= 0 {
				words = strings.Fields(strings.ReplaceAll(line[:at], "'", ""))
			}
			verb, ok := findVerb(words[1])
			if words[0] != "pmbench" || !ok {
				t.Errorf("%s: example %q", v.name, line)
				continue
			}
			fs := flag.NewFlagSet(verb.name, flag.ContinueOnError)
			verb.define(fs)
			new(env).define(fs, verb)
			if _, err := parse(fs, words[2:]); err != nil {
				t.Errorf("%s: example %q: %v", v.name, line, err)
			}
		}
	}
	for _, s := range suites() {
		if !strings.Contains(string(documented), s.about) {
			t.Errorf("suite %s is not in the package comment", s.name)
		}
	}
}

func TestFlagsAndNamesInAnyOrder(t *testing.T) {
	for _, args := range []string{"a b -threshold 3", "-threshold 3 a b", "a -threshold=3 b"} {
		fs := flag.NewFlagSet("compare", flag.ContinueOnError)
		f := new(compareFlags)
		f.define(fs)
		names, err := parse(fs, strings.Fields(args))
		if err != nil || strings.Join(names, " ") != "a b" || f.threshold != 3 {
			t.Errorf("%s: %q, threshold %g, %v", args, names, f.threshold, err)
		}
	}
}

func TestInterruptedBeforeItBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, messages bytes.Buffer
	code := run(ctx, []string{"run", "-suite", "private", "-no-limits", "-quiet"}, &out, &messages)
	if code != exitInterrupted || !strings.Contains(messages.String(), "interrupted") {
		t.Errorf("exit code %d, %q", code, messages.String())
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
