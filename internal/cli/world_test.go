package cli

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/par"
)

// rankWorld is the world of one rank of a test.
type rankWorld struct {
	ranks *par.Ranks
	ended func(rank int, err error) error
}

func (w rankWorld) Ranks() *par.Ranks   { return w.ranks }
func (w rankWorld) Neighbours() int     { return 2 }
func (w rankWorld) End(err error) error { return w.ended(w.ranks.Rank(), err) }

// Only rank 0 prints, errors go to the world with their line and their exit code, and verbs
// that cannot share their work are refused.
func TestWorld(t *testing.T) {
	fail := errors.New("broken")
	act := func(err error) func(*flag.FlagSet) Action {
		return func(*flag.FlagSet) Action {
			return func(_ context.Context, e *Env, _ []string) error {
				fmt.Fprintf(e.Stdout, "result of %d of %d\n", e.Ranks().Size(), e.RanksHere())
				e.Note("note")
				return err
			}
		}
	}
	for _, c := range []struct {
		verb string
		code int
		said string
		out  string // of rank 0
	}{
		{"works", OK, "", "result of 3 of 2\np: works: note\n"},
		{"fails", Failed, "p: fails: broken", "result of 3 of 2\np: fails: note\n"},
		{"misused", Usage, "p: misused: no", "result of 3 of 2\np: misused: note\n"},
		{"shown", 7, "", "result of 3 of 2\np: shown: note\n"},
		{"alone", Failed, "p: alone: runs on one process, and 3 were started; docs/scale.md says what several can do", ""},
		{"none", Usage, "p: there is no verb", ""},
	} {
		var out [3]bytes.Buffer
		var codes [3]int
		var said [3]string
		err := cluster.Local(3, func(ranks *par.Ranks) error {
			r := ranks.Rank()
			p := &Program{Name: "p", Verbs: []Verb{
				{Name: "works", Ranks: true, Define: act(nil)}, {Name: "fails", Ranks: true, Define: act(fail)},
				{Name: "misused", Ranks: true, Define: act(Usagef("no"))}, {Name: "shown", Ranks: true, Define: act(Shown(7))}, {Name: "alone", Define: act(nil)},
			}}
			p.World = rankWorld{ranks, func(rank int, err error) error {
				if err != nil {
					said[rank] = err.Error()
				}
				if c.verb == "fails" && !errors.Is(err, fail) {
					t.Errorf("the cause is lost: %v", err)
				}
				return err
			}}
			codes[r] = p.Run(t.Context(), []string{c.verb}, &out[r], &out[r])
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for r := range codes {
			want := c.out
			if r > 0 {
				want = ""
			}
			if codes[r] != c.code || !strings.HasPrefix(said[r], c.said) || c.said == "" && said[r] != "" || sorted(out[r].String()) != sorted(want) {
				t.Errorf("%s on rank %d: %d, %q, %q", c.verb, r, codes[r], said[r], out[r].String())
			}
		}
	}
}

// sorted puts lines in order: results are buffered, notes are not.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A world that fails, such as one that has lost a rank, ends the program.
func TestWorldFails(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
	}{{errors.New("lost"), Failed}, {&saidError{errors.New("ended"), "", 5}, 5}} {
		err := cluster.Local(2, func(ranks *par.Ranks) error {
			p := &Program{Name: "p", World: rankWorld{ranks, func(int, error) error { return c.err }}}
			p.Verbs = []Verb{{Name: "works", Ranks: true, Define: func(*flag.FlagSet) Action {
				return func(context.Context, *Env, []string) error { return nil }
			}}}
			var out bytes.Buffer
			if code := p.Run(t.Context(), []string{"works"}, &out, &out); code != c.code || out.Len() > 0 {
				t.Errorf("%d, %q", code, out.String())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// Ranks with different arguments or builds are refused, all with the same message.
func TestSameStart(t *testing.T) {
	type start struct {
		revision string
		args     []string
	}
	for _, c := range []struct {
		ranks []start
		words string
	}{
		{[]start{{"a", []string{"embed", "x"}}}, ""},
		{[]start{{"a", []string{"embed", "x"}}, {"a", []string{"embed", "x"}}, {"a", []string{"embed", "x"}}}, ""},
		{[]start{{"a", nil}, {"a", nil}}, ""},
		{[]start{{"a", []string{"embed", "x"}}, {"a", []string{"embed", "x"}}, {"a", []string{"embed", "y"}}}, "rank 2 has other arguments"},
		{[]start{{"a", []string{"embed", "x"}}, {"a", []string{"embed x"}}}, "rank 1 has other arguments"},
		{[]start{{"a", []string{"embed"}}, {"a", nil}}, "rank 1 has other arguments"},
		{[]start{{"a", nil}, {"b", nil}}, "rank 1 has another build of the program"},
		{[]start{{"", nil}, {"b", nil}}, "rank 1 has another build of the program"},
	} {
		said := make([]string, len(c.ranks))
		err := cluster.Local(len(c.ranks), func(ranks *par.Ranks) error {
			own := c.ranks[ranks.Rank()]
			v := ReadVersion()
			v.Revision = own.revision
			if err := sameStart(t.Context(), ranks, v, own.args); err != nil {
				said[ranks.Rank()] = err.Error()
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for r, text := range said {
			if (text == "") != (c.words == "") || !strings.HasPrefix(text, c.words) {
				t.Errorf("%v: rank %d: %q", c.ranks, r, text)
			}
		}
	}
}
