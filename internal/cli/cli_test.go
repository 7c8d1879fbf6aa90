package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// testProgram has a verb with all flags, and one that fails.
func testProgram() *Program {
	act := func(do func(ctx context.Context, e *Env, names []string) error) func(*flag.FlagSet) Action {
		return func(fs *flag.FlagSet) Action {
			fs.String("shape", "round", "the `SHAPE`")
			var n int
			CountVar(fs, &n, "count", 3, "how many, `N`")
			return do
		}
	}
	return &Program{
		Name: "tool", About: "is for tests.", Hint: "Try it: tool show x",
		Verbs: []Verb{
			{
				Name: "show", Summary: "show names", Synopsis: []string{"NAME..."}, About: "Shows.", Examples: []string{"tool show x"},
				Prints: PrintsJSON | PrintsProgress | PrintsDetails, Without: map[string]string{"epsilon": "nothing is private"},
				Define: act(func(_ context.Context, e *Env, names []string) error {
					e.Note("a note")
					if e.JSON {
						return e.Object(names)
					}
					if e.Verbose {
						names = append(names, "and more")
					}
					_, err := fmt.Fprintln(e.Stdout, strings.Join(names, " "))
					return err
				}),
			},
			{
				Name: "fail", Summary: "fail", Synopsis: []string{"[HOW]"}, Examples: []string{"tool fail"},
				Define: act(func(ctx context.Context, e *Env, names []string) error {
					switch names[0] {
					case "usage":
						return fmt.Errorf("wrapped: %w", Usagef("no sense"))
					case "shown":
						return Shown(3)
					case "cleared": // and cleared up after it
						return errors.Join(errors.Join(Shown(3), nil), nil)
					case "uncleared":
						return errors.Join(Shown(3), errors.New("cannot clear up"))
					case "wait":
						<-ctx.Done()
						return fmt.Errorf("waiting: %w", ctx.Err())
					}
					return errors.New("line one\nline two")
				}),
			},
		},
	}
}

func call(ctx context.Context, p *Program, line string) (code int, stdout, stderr string) {
	var out, messages bytes.Buffer
	code = p.Run(ctx, strings.Fields(line), &out, &messages)
	return code, out.String(), messages.String()
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		line           string
		code           int
		stdout, stderr string // stderr: a part of it
	}{
		{"show x -quiet y", OK, "", ""},
		{"show x -quiet -json", OK, "[\"x\"]\n", ""},
		{"show x -v", OK, "x and more\n", "tool: show: a note\n"},
		{"show x -v -quiet", Usage, "", "tool: show: -quiet prints errors only and -v prints more: leave out one of them\n"},
		{"show x", OK, "x\n", "tool: show: a note\n"},
		{"show -json a -- -b", OK, "[\"a\",\"-b\"]\n", "note"},
		{"fail x", Failed, "", "tool: fail: line one line two\n"},
		{"fail usage", Usage, "", "tool: fail: wrapped: no sense\n"},
		{"fail shown", 3, "", ""},
		{"fail cleared", 3, "", ""},
		{"fail uncleared", Failed, "", "tool: fail: cannot clear up\n"},
		{"", Usage, "", "usage: tool VERB"},
		{"shwo", Usage, "", "tool: there is no verb \"shwo\" (did you mean show?); run 'tool help' for the list\n"},
		{"zebra", Usage, "", "tool: there is no verb \"zebra\"; run"},
		{"help shwo", Usage, "", "did you mean show?"},
		{"help show fail", Usage, "", "one verb"},
		{"show -shap x", Usage, "", "tool: show: there is no flag -shap (did you mean -shape?); run 'tool show -h' for the list\n"},
		{"show -epsilon 1", Usage, "", "there is no flag -epsilon here: nothing is private"},
		{"show -count 0", Usage, "", "want a whole number of 1 or more"},
		{"fail -json x", Usage, "", "there is no flag -json"},
		{"version x", Usage, "", "names are not wanted"},
	} {
		code, stdout, stderr := call(t.Context(), testProgram(), c.line)
		if code != c.code || stdout != c.stdout || !strings.Contains(stderr, c.stderr) || c.stderr == "" && stderr != "" {
			t.Errorf("tool %s: exit code %d, %q, %q", c.line, code, stdout, stderr)
		}
	}
}

// A program whose purpose is its output prints results even with -quiet, and its help says so.
func TestQuietResults(t *testing.T) {
	p := testProgram()
	for results, want := range map[bool]string{false: "print errors only", true: "results are still printed"} {
		p.Results = results
		if _, text, _ := call(t.Context(), p, "show -h"); !strings.Contains(text, want) {
			t.Errorf("-h lacks %q:\n%s", want, text)
		}
	}
	p.Results = true
	if code, stdout, stderr := call(t.Context(), p, "show x -quiet"); code != OK || stdout != "x\n" || stderr != "" {
		t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := testProgram()
	if code, _, stderr := call(ctx, p, "fail wait"); code != Interrupted || stderr != "tool: fail: interrupted\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	// An error that has nothing to do with the signal is reported.
	if code, _, stderr := call(ctx, p, "fail x"); code != Failed || !strings.Contains(stderr, "line one") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
	p.Words = func(err error, args []string, interrupted bool) string {
		return fmt.Sprint("in other words ", args, interrupted)
	}
	if code, _, stderr := call(ctx, p, "fail wait"); code != Interrupted || stderr != "tool: fail: in other words [wait] true\n" {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// Every verb has the same help with -h and with the verb help, including all its flags.
func TestHelp(t *testing.T) {
	p := testProgram()
	_, overview, _ := call(t.Context(), p, "help")
	if _, other, _ := call(t.Context(), p, "--help"); other != overview {
		t.Error("--help differs from help")
	}
	for _, v := range p.All() {
		if !strings.Contains(overview, v.Summary) {
			t.Errorf("%s is not in the overview", v.Name)
		}
		code, one, _ := call(t.Context(), p, v.Name+" -h")
		_, other, _ := call(t.Context(), p, "help "+v.Name)
		if code != OK || one != other || !strings.Contains(one, "example:\n  tool") {
			t.Errorf("%s: -h and help differ, or have no example: %q, %q", v.Name, one, other)
		}
		fs, _ := p.flags(v, new(Env))
		fs.VisitAll(func(f *flag.Flag) {
			if !strings.Contains(one, "\n  -"+f.Name) {
				t.Errorf("%s: flag -%s is not in the help", v.Name, f.Name)
			}
		})
	}
	if _, text, _ := call(t.Context(), p, "help show"); !strings.Contains(text, "-shape SHAPE") || !strings.Contains(text, "(default round)") || !strings.Contains(text, "(default 3)") {
		t.Errorf("%s", text)
	}
}

func TestVersion(t *testing.T) {
	for _, line := range []string{"version", "-version", "--version"} {
		if code, stdout, _ := call(t.Context(), testProgram(), line); code != OK || !strings.HasPrefix(stdout, "tool ") || strings.Count(stdout, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q", line, code, stdout)
		}
	}
	_, stdout, _ := call(t.Context(), testProgram(), "version -json")
	var v Version
	if err := json.Unmarshal([]byte(stdout), &v); err != nil || v != ReadVersion() {
		t.Errorf("%q: %v", stdout, err)
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ args, names, a string }{
		{"", "", ""},
		{"x -a 1 y", "x y", "1"},
		{"-a 1 x y", "x y", "1"},
		{"x y -a=1", "x y", "1"},
		{"x --a 1 -b y", "x y", "1"},
		{"x -a 1 -- -b -a", "x -b -a", "1"},
		{"-a -1 x", "x", "-1"},
		{"x -a 1 -a 2", "x", "2"},
	} {
		fs := flag.NewFlagSet("test", flag.ContinueOnError)
		a := fs.String("a", "", "")
		fs.Bool("b", false, "")
		names, err := Parse(fs, strings.Fields(c.args))
		if err != nil || !slices.Equal(names, strings.Fields(c.names)) || *a != c.a {
			t.Errorf("%q: names %q, a %q, error %v", c.args, names, *a, err)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"embed", "evaluate", "k", "plan", "quiet", "spmm", "v"}
	for word, want := range map[string]string{
		"embd": "embed", "emebd": "embed", "EMBED": "embed", "eval": "evaluate", "pln": "plan", "smpm": "spmm", "zebra": "", "": "", "x": "",
		"K": "k", "x1": "", "budget": "", "quit": "quiet", "spnn": "",
	} {
		if want != "" {
			want = " (did you mean -" + want + "?)"
		}
		if got := DidYouMean(word, known, "-"); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

// A failed write to standard output is an error, for text and for JSON.
func TestStandardOutputFails(t *testing.T) {
	for _, line := range []string{"show x", "show x -json", "help", "version"} {
		var messages bytes.Buffer
		code := testProgram().Run(t.Context(), strings.Fields(line), failing{}, &messages)
		if code != Failed || strings.Count(messages.String(), "standard output: full") != 1 {
			t.Errorf("%s: exit code %d, %q", line, code, messages.String())
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }
