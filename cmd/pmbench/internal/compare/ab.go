package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// AB says what the working tree and a revision measure in turns: what verb ab is asked for.
type AB struct {
	Suite, Pattern string
	Keep           string // the folder that keeps both recordings; "": none
	Count          int    // turns of each; 0: as many as it takes to decide, of turnsOfLooks
	Compare        Options
}

// benchPackage is the package of this command within the module.
const benchPackage = "cmd/pmbench"

// Run compares the working tree with a revision.
func (f *AB) Run(ctx context.Context, e *cli.Env, revision string) (err error) {
	if err := f.Compare.check(); err != nil {
		return err
	}
	if f.Keep != "" {
		if err := os.MkdirAll(f.Keep, 0o777); err != nil {
			return err
		}
	}
	temp, err := os.MkdirTemp("", "pmbench-ab-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	root, err := measure.Command(ctx, "", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return fmt.Errorf("ab works within a git repository: %w", err)
	}
	root = strings.TrimSpace(root)

	m := measure.NewMeter(e)
	defer m.Clear()
	m.Show("building "+revision, 0)
	tree := filepath.Join(temp, "tree")
	if _, err := measure.Command(ctx, root, "git", "worktree", "add", "--detach", tree, revision); err != nil {
		return fmt.Errorf("revision %s: %w", revision, err)
	}
	defer func() {
		// Not with ctx: it may have ended.
		_, removeErr := measure.Command(context.Background(), root, "git", "worktree", "remove", "--force", tree)
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
	f.Compare.interleaved, f.Compare.looks = true, len(looks)
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
			m.Clear()
			e.Note("%d turns do not decide, going on to %d: %s", turns, looks[i+1], why)
		}
	}
	m.Clear()
	var recordings []*recording
	for _, s := range sides {
		if err := s.keep(ctx, f.Keep); err != nil {
			return err
		}
		rec, err := s.recording()
		if err != nil {
			return err
		}
		recordings = append(recordings, rec)
	}
	return f.Compare.show(e, recordings[0], recordings[1])
}

// turnsOfLooks are the numbers of turns after which ab looks at what it has.
var turnsOfLooks = []int{MinRuns, 2 * MinRuns, 4 * MinRuns}

// looks returns the numbers of turns after which to look.
func (f *AB) looks() []int {
	if f.Count > 0 {
		return []int{f.Count}
	}
	return turnsOfLooks
}

// undecided returns why more turns are wanted, nothing where they are not.
func (f *AB) undecided(sides []*side) (string, error) {
	var recordings []*recording
	for _, s := range sides {
		rec, err := s.recording()
		if err != nil {
			return "", err
		}
		recordings = append(recordings, rec)
	}
	before, after, metrics := f.Compare.aligned(recordings[0], recordings[1])
	all, err := compareRecordings(before, after, metrics, f.Compare.Threshold/100, true, f.Compare.looks)
	if err != nil {
		return "", err
	}
	return wantsMore(withoutSettled(all)), nil
}

// takeTurns lets the sides measure one after the other, from a number of turns on to another.
func (f *AB) takeTurns(ctx context.Context, m *measure.Meter, sides []*side, temp string, from, to int) error {
	for turn := from; turn < to; turn++ {
		for i, s := range sides {
			m.Show(fmt.Sprintf("turn %d of %d, %s", turn+1, to, s.name), float64(2*turn+i)/float64(2*to))
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
func (s *side) measure(ctx context.Context, f *AB, temp string) error {
	out := filepath.Join(temp, s.name+".txt")
	args := []string{"run", "-suite", f.Suite, "-count", "1", "-no-limits", "-quiet", "-out", out}
	if f.Pattern != "" {
		args = append(args, "-case", f.Pattern)
	}
	c := exec.CommandContext(ctx, s.program, args...)
	c.Dir, c.Env = s.folder, measure.SameChoices(os.Environ())
	if _, err := measure.Output(ctx, c); err != nil {
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
	s.program = filepath.Join(folder, "pmbench-"+s.name+measure.ExeSuffix())
	if _, err := measure.Command(ctx, s.folder, "go", "build", "-o", s.program, "./"+benchPackage); err != nil {
		return fmt.Errorf("building the %s side: %w", s.name, err)
	}
	return nil
}

// keep writes what the side has measured to a folder, unless it is "".
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

// toldSlowdown is what ab takes more turns to find, or to rule out.
const toldSlowdown = 1.0 / 3

// wantsMore returns why the verdict on metrics that were compared after some turns is open,
// "" where it is not: one that is worse ends the comparison. Where the time of a case
// is unclear its processor time decides.
func wantsMore(all []*comparison) (why string) {
	told := map[*comparison]bool{}
	for c, time := range besideTime(all) {
		told[time] = !c.Likely && c.most <= toldSlowdown
	}
	for _, c := range all {
		switch {
		case c.Worse:
			return ""
		case why != "" || told[c]:
		case c.Likely:
			why = fmt.Sprintf("%s %s is likely worse", c.Case, c.Metric)
		case c.Unclear != "" && c.most > toldSlowdown:
			why = fmt.Sprintf("%s %s could be worse by a third", c.Case, c.Metric)
		}
	}
	return why
}
