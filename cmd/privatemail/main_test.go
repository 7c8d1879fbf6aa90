package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// asCommand is the variable that makes the test binary be the command itself.
const asCommand = "PRIVATEMAIL_TEST_AS_COMMAND"

// withCache is the value of asCommand with which the command keeps files in the user's cache
// folder, as it does for a user.
const withCache = "with cache"

func TestMain(m *testing.M) {
	files.Speed = func() kernel.Calibration { return kernel.Calibration{} }
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

// sameEngine is an Engine that chooses as those of the command do.
func sameEngine(t *testing.T, opts ...privatemail.Option) *privatemail.Engine {
	t.Helper()
	engine, err := privatemail.New(append(opts, privatemail.WithCalibration(files.Speed()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { engine.Close() })
	return engine
}

// wantPoints compares a file of float32 with points, bit by bit.
func wantPoints(t *testing.T, path string, want *mat.Dense) {
	t.Helper()
	got, err := formats.ReadMatrix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Close()
	if n, k := want.Dims(); got.Rows != n || got.Cols != k {
		t.Fatalf("%s is %d x %d, want %d x %d", path, got.Rows, got.Cols, n, k)
	}
	for i, v := range got.Data {
		if row, col := i/got.Cols, i%got.Cols; float64(v) != want.At(row, col) {
			t.Fatalf("entry (%d, %d) is %g, computed was %g", row, col, v, want.At(row, col))
		}
	}
}

// succeed runs the command and wants exit code 0.
func succeed(t *testing.T, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := call(args...)
	if code != cli.OK {
		t.Fatalf("privatemail %s: exit code %d\n%s", strings.Join(args, " "), code, stderr)
	}
	return stdout, stderr
}

// refuse runs the command and wants an exit code and one line with all words, its end
// included.
func refuse(t *testing.T, want int, args []string, words ...string) {
	t.Helper()
	code, stdout, stderr := call(args...)
	if code != want {
		t.Errorf("privatemail %s: exit code %d, want %d\n%s", strings.Join(args, " "), code, want, stderr)
	}
	if stdout != "" {
		t.Errorf("privatemail %s: standard output has %q", strings.Join(args, " "), stdout)
	}
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "privatemail: ") {
		t.Errorf("message %q does not begin with the name of the command", last)
	}
	for _, w := range words {
		if !strings.Contains(last+"\n", w) {
			t.Errorf("message %q does not contain %q", last, w)
		}
	}
}

// object parses the only line of standard output.
func object(t *testing.T, stdout string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || strings.Count(stdout, "\n") != 1 {
		t.Fatalf("not one line of JSON: %v\n%s", err, stdout)
	}
	return v
}

func wantKeys(t *testing.T, v map[string]any, keys string) {
	t.Helper()
	for key := range strings.FieldsSeq(keys) {
		if _, ok := v[key]; !ok {
			t.Errorf("the object has no %q: %v", key, v)
		}
	}
}

// toy writes a folder with 300 rows of 8 classes in 16 dimensions.
func toy(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "toy")
	x, y, err := synth.Classes(300, 16, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	writeMatrix(t, filepath.Join(folder, files.FeaturesName), 300, 16, x.Data)
	writeLabels(t, filepath.Join(folder, files.LabelsName), y)
	return folder
}

func writeMatrix(t *testing.T, path string, rows, cols int, data []float32) {
	t.Helper()
	if err := formats.WriteMatrix(t.Context(), path, rows, cols, data); err != nil {
		t.Fatal(err)
	}
}

func writeLabels(t *testing.T, path string, y []int32) {
	t.Helper()
	if err := formats.WriteLabels(t.Context(), path, y); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// wantFiles checks what a folder holds, hidden files included.
func wantFiles(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	slices.Sort(names)
	if !slices.Equal(have, names) {
		t.Errorf("%s holds %q, want %q", folder, have, names)
	}
}

func TestOverview(t *testing.T) {
	code, stdout, stderr := call()
	if code != cli.Usage || stdout != "" || !strings.Contains(stderr, "usage: privatemail VERB") {
		t.Errorf("no arguments: exit code %d, output %q, messages %q", code, stdout, stderr)
	}
	for _, arg := range []string{"help", "-h", "--help", "-help"} {
		stdout, stderr := succeed(t, arg)
		for _, v := range program().Verbs {
			if !strings.Contains(stdout, "\n  "+v.Name+" ") || !strings.Contains(stdout, " "+v.Summary+"\n") {
				t.Errorf("%s does not list %s", arg, v.Name)
			}
		}
		if stderr != "" {
			t.Errorf("%s: messages %q", arg, stderr)
		}
	}
}

// A plain -h fits a screen: its example, usage and most used flags. help -all has every flag.
func TestHelpOfEveryVerb(t *testing.T) {
	const lines, columns, flags = 40, 80, 15
	for _, v := range program().All() {
		t.Run(v.Name, func(t *testing.T) {
			name := strings.Fields(v.Name)
			short, stderr := succeed(t, append(name, "-h")...)
			if stderr != "" || !strings.Contains(short, "\nusage:\n  privatemail "+v.Name) || !strings.Contains(strings.Replace(short, "\nexamples:", "\nexample:", 1), "\nexample:\n  privatemail "+v.Name) {
				t.Errorf("help without usage or example:\n%s%s", short, stderr)
			}
			for line := range strings.Lines(short) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > columns {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			if n := strings.Count(short, "\n"); n > lines {
				t.Errorf("%d lines", n)
			}
			if n := strings.Count(short, "\n  -"); n > flags {
				t.Errorf("%d flags", n)
			}
			if again, _ := succeed(t, append([]string{"help"}, name...)...); again != short {
				t.Errorf("help %s differs from %s -h", v.Name, v.Name)
			}
			all, _ := succeed(t, append([]string{"help", "-all"}, name...)...)
			fs := flag.NewFlagSet(v.Name, flag.ContinueOnError)
			v.Define(fs)
			fs.VisitAll(func(f *flag.Flag) {
				if n := strings.Count(all, "\n  -"+f.Name+"\n") + strings.Count(all, "\n  -"+f.Name+" "); n != 1 {
					t.Errorf("-%s has %d lines", f.Name, n)
				}
			})
			for line := range strings.Lines(all) {
				if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 100 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
		})
	}
}

// The comment of package main lists the verbs of the program and no others.
func TestVerbsOfPackageComment(t *testing.T) {
	text := readFile(t, "doc.go")
	_, list, ok := strings.Cut(text, "privatemail VERB [FLAGS] [FILES]\n//\n")
	list, _, ok2 := strings.Cut(list, "\n//\n")
	if !ok || !ok2 {
		t.Fatal("no list of verbs")
	}
	var want strings.Builder
	for _, v := range append(program().Verbs, program().All()[len(program().All())-2:]...) {
		fmt.Fprintf(&want, "//\t%-12s %s\n", v.Name, v.Summary)
	}
	if got := list + "\n"; got != want.String() {
		t.Errorf("the comment has\n%swant\n%s", got, &want)
	}
}

// TestExamples keeps the examples of the help in step with the flags.
func TestExamples(t *testing.T) {
	for _, v := range program().All() {
		for _, line := range v.Examples {
			// With -h a command is read to its end and not carried out.
			words := strings.Fields(line)
			if !strings.HasPrefix(line, "privatemail "+v.Name+" ") && line != "privatemail "+v.Name {
				t.Errorf("%q is no example of %s", line, v.Name)
			} else if code, _, stderr := call(append(words[1:], "-h")...); code != cli.OK {
				t.Errorf("%q: %s", line, stderr)
			}
		}
	}
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"version", "-version", "--version"} {
		if stdout, _ := succeed(t, arg); !strings.HasPrefix(stdout, "privatemail ") || !strings.HasSuffix(stdout, " "+settingInUse()+"\n") {
			t.Errorf("%s prints %q", arg, stdout)
		}
	}
	stdout, _ := succeed(t, "version", "-json")
	wantKeys(t, object(t, stdout), "version go platform simd")
	refuse(t, cli.Usage, []string{"version", "x"}, "names are not wanted")
}

func TestUnknownVerbAndFlag(t *testing.T) {
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"emebd", []string{`"emebd"`, "did you mean embed?"}},
		{"generat", []string{"did you mean generate?"}},
		{"xyzzy", []string{`"xyzzy"`, "privatemail help"}},
		{"help serch", []string{"did you mean search?"}},
		{"help graph embed", []string{"one verb"}},
		{"embed x.npy -sigm 3", []string{"-sigm", "did you mean -sigma?", "embed -h"}},
		{"embed x.npy --normalise-rows", []string{"did you mean -normalize-rows?"}},
		{"fit x.npy -k 3", []string{"no flag -k; run"}},
		{"search x.npy y.npy -budget 3", []string{"no flag -budget; run"}},
		{"query http://127.0.0.1:8480 rows.npy", []string{"cells, sealed, all", "such as 'privatemail query sealed http"}},
		{"graph -outt z.npy", []string{"there is no flag -outt"}},
		{"privatize x.npy -mean-neighbours 20", []string{"no flag -mean-neighbours", "private rows", "-sigma S"}},
		{"privatize x.npy -steps 3", []string{"no flag -steps", "privatemail continue"}},
		{"privatize x.npy -beta 3", []string{"no flag -beta", "no bound", "-alpha A"}},
		{"privatize x.npy -cutoff-weight 0.1", []string{"no flag -cutoff-weight", "-radius R"}},
		{"sensitivity -n 5 -steps 3", []string{"no flag -steps"}},
		{"generate -kind unifrom", []string{"did you mean uniform?"}},
		{"demo -json=perhaps", []string{"-json"}},
	} {
		t.Run(c.args, func(t *testing.T) { refuse(t, cli.Usage, strings.Fields(c.args), c.words...) })
	}
	_, _, stderr := call("xyzzy")
	if strings.Contains(stderr, "did you mean") {
		t.Errorf("a suggestion for xyzzy: %s", stderr)
	}
}

// brokenWriter fails like a full disk.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestBrokenStandardOutput(t *testing.T) {
	var stderr bytes.Buffer
	if code := program().Run(t.Context(), []string{"version"}, brokenWriter{}, &stderr); code != cli.Failed || !strings.Contains(stderr.String(), "standard output") {
		t.Errorf("exit code %d, messages %q", code, stderr.String())
	}
}
