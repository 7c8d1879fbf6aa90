package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func abVerb() cli.Verb {
	return cli.Verb{
		Name: "ab", Summary: "compare the working tree with a revision, interleaved",
		Synopsis: []string{"REV -suite NAME [-case PATTERN] [-count N] [-threshold PERCENT]"},
		About: `
Builds pmbench from the revision REV, in a worktree of its own in a temporary folder,
and from the working tree, and lets them take turns: REV, working tree, REV, ... Then
compares as compare does, with the same exit codes; where the two sides take different
levels of processor instructions ab says so. The choice between loops that gather and
loops that load is measured once, and both sides take it; PM_SIMD goes before. The worktree
is removed in the end, after Ctrl-C too. A revision from before there was a pmbench is
measured with the present one.

Each side takes 10 turns. Where these cannot tell ab goes on to 20 and to 40: while a metric
is likely worse, and while one that is unclear could be worse by a third, by its time and by
its processor time. It ends as soon as one is worse. The three looks share the chance of
an alarm about nothing: p is three times what one look has. -count N takes N turns and looks
once.
`,
		Prints:   cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{"pmbench ab HEAD -suite spmm -case 'k=8/'", "pmbench ab v1.0 -suite step -count 20 -keep runs/"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(abFlags)
			fs.StringVar(&f.suite, "suite", "", "measure the suite `NAME`; required")
			fs.StringVar(&f.pattern, "case", "", "only cases whose name matches the regular expression `PATTERN`")
			cli.CountVar(fs, &f.count, "count", 0, "take `N` turns each, at least 10 (default: 10, and up to 40 while they cannot tell)")
			fs.StringVar(&f.keep, "keep", "", "keep the recordings old.txt and new.txt in `FOLDER`")
			f.compare.define(fs)
			return f.run
		},
	}
}

type abFlags struct {
	suite, pattern, keep string
	count                int
	compare              compareFlags
}

// benchPackage is the package of this command within the module.
const benchPackage = "cmd/pmbench"

func (f *abFlags) run(ctx context.Context, e *cli.Env, names []string) (err error) {
	if err := f.check(names); err != nil {
		return err
	}
	if f.keep != "" {
		if err := os.MkdirAll(f.keep, 0o777); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp("", "pmbench-ab-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	root, err := command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("ab works within a git repository: %w", err)
	}
	root = strings.TrimSpace(root)

	m := newMeter(e)
	defer m.clear()
	m.show("building "+names[0], 0)
	tree := filepath.Join(temp, "tree")
	if _, err := command(ctx, root, "git", "worktree", "add", "--detach", tree, names[0]); err != nil {
		return fmt.Errorf("revision %s: %w", names[0], err)
	}
	defer func() {
		// Not with ctx: it may have ended.
		_, removeErr := command(context.Background(), root, "git", "worktree", "remove", "--force", tree)
		err = errors.Join(err, removeErr)
	}()
	if err := lendBench(root, tree); err != nil {
		return err
	}
	sides := []*side{{name: "old", folder: tree}, {name: "new", folder: root}}
	for _, s := range sides {
		if err := s.build(ctx, temp); err != nil {
			return err
		}
	}
	looks := f.looks()
	f.compare.interleaved, f.compare.looks = true, len(looks)
	taken := 0
	for i, turns := range looks {
		if err := f.takeTurns(ctx, m, sides, temp, taken, turns); err != nil {
			return err
		}
		taken = turns
		if i+1 < len(looks) {
			why, err := f.undecided(sides)
			if err != nil {
				return err
			}
			if why == "" {
				break
			}
			m.clear()
			e.Note("%d turns cannot tell, going on to %d: %s", turns, looks[i+1], why)
		}
	}
	m.clear()
	var recordings []*recording
	for _, s := range sides {
		if err := s.keep(ctx, f.keep); err != nil {
			return err
		}
		rec, err := s.recording()
		if err != nil {
			return err
		}
		recordings = append(recordings, rec)
	}
	return f.compare.show(e, recordings[0], recordings[1])
}

// turnsOfLooks are the numbers of turns after which ab looks at what it has.
var turnsOfLooks = []int{minRuns, 2 * minRuns, 4 * minRuns}

// looks returns the numbers of turns after which to look.
func (f *abFlags) looks() []int {
	if f.count > 0 {
		return []int{f.count}
	}
	return turnsOfLooks
}

// undecided returns why more turns are wanted, nothing where they are not.
func (f *abFlags) undecided(sides []*side) (string, error) {
	var recordings []*recording
	for _, s := range sides {
		rec, err := s.recording()
		if err != nil {
			return "", err
		}
		recordings = append(recordings, rec)
	}
	before, after, metrics := f.compare.aligned(recordings[0], recordings[1])
	all, err := compareRecordings(before, after, metrics, f.compare.threshold/100, true, f.compare.looks)
	if err != nil {
		return "", err
	}
	return wantsMore(withoutSettled(all)), nil
}

// check refuses flags and names before anything is built: the sides would say the
// same minutes later.
func (f *abFlags) check(names []string) error {
	switch {
	case len(names) != 1:
		return cli.Usagef("one revision is wanted, got %d names", len(names))
	case f.count > 0 && f.count < minRuns:
		return cli.Usagef("-count %d is too few to compare: want at least %d", f.count, minRuns)
	}
	if _, err := chooseSuites(f.suite); err != nil {
		return err
	}
	if _, err := choosePattern(f.pattern); err != nil {
		return err
	}
	return f.compare.check()
}

// takeTurns lets the sides measure one after the other, from a number of turns on to another.
func (f *abFlags) takeTurns(ctx context.Context, m *meter, sides []*side, temp string, from, to int) error {
	for turn := from; turn < to; turn++ {
		for i, s := range sides {
			m.show(fmt.Sprintf("turn %d of %d, %s", turn+1, to, s.name), float64(2*turn+i)/float64(2*to))
			if err := s.measure(ctx, f, temp); err != nil {
				return err
			}
		}
	}
	return nil
}

// side is one of the two programs that take turns.
type side struct {
	name, folder, program string
	text                  bytes.Buffer // all it has recorded
}

// measure takes one turn: a fresh process that measures each case once.
func (s *side) measure(ctx context.Context, f *abFlags, temp string) error {
	out := filepath.Join(temp, s.name+".txt")
	args := []string{"run", "-suite", f.suite, "-count", "1", "-no-limits", "-quiet", "-out", out}
	if f.pattern != "" {
		args = append(args, "-case", f.pattern)
	}
	c := exec.CommandContext(ctx, s.program, args...)
	c.Dir, c.Env = s.folder, sameChoices(os.Environ())
	if _, err := output(ctx, c); err != nil {
		return fmt.Errorf("%s side: %w", s.name, err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	s.text.Write(text)
	s.text.WriteByte('\n')
	return os.Remove(out)
}

// build compiles the program of the side into a folder.
func (s *side) build(ctx context.Context, folder string) error {
	s.program = filepath.Join(folder, "pmbench-"+s.name+exeSuffix())
	if _, err := command(ctx, s.folder, "go", "build", "-o", s.program, "./"+benchPackage); err != nil {
		return fmt.Errorf("building the %s side: %w", s.name, err)
	}
	return nil
}

// keep writes what the side has measured to a folder, to none when it is "".
func (s *side) keep(ctx context.Context, folder string) error {
	if folder == "" {
		return nil
	}
	return formats.WriteFile(ctx, filepath.Join(folder, s.name+".txt"), func(w io.Writer) error { _, err := w.Write(s.text.Bytes()); return err })
}

// recording reads what the side has measured.
func (s *side) recording() (*recording, error) {
	rec := &recording{path: s.name, cases: map[string]map[string][]float64{}}
	return rec, rec.read(bytes.NewReader(s.text.Bytes()))
}

// lendBench gives a tree without this command the present one, and the module
// files that know what it imports.
func lendBench(root, tree string) error {
	target := filepath.Join(tree, filepath.FromSlash(benchPackage))
	if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.CopyFS(target, os.DirFS(filepath.Join(root, filepath.FromSlash(benchPackage)))); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(tree, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
