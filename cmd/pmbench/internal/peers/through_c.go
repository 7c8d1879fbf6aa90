package peers

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/clibrary"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

const (
	// throughC is the peer that is this library.
	throughC       = "through C"
	linkedPackages = "g++ and a Go toolchain, and run pmbench within the repository"

	// mostLinkedRows is the number of rows of the largest case, unless -n asks for more rows
	// to be placed.
	mostLinkedRows = 200_000
	linkedColumns  = 2
	// appliedColumns are those of the rows that a model places.
	appliedColumns = 512
	// twinPackage is the program that does from Go what through_c.cpp does.
	twinPackage = "github.com/seed-64e14a55/privatemail/internal/throughgo"
)

// buildLibrary builds the shared library from the sources of this program, once for a folder, and
// returns the flags that link it.
func buildLibrary(ctx context.Context, folder string) ([]string, error) {
	out := filepath.Join(folder, "privatemail")
	lib := filepath.Join(out, "lib")
	if _, err := os.Stat(filepath.Join(out, "include", "pm.h")); err != nil { // it is written after the library
		if err := clibrary.Build(ctx, out, clibrary.Shared); err != nil {
			return nil, fmt.Errorf("the shared library: %w", err)
		}
	}
	return []string{"-I" + filepath.Join(out, "include"), "-L" + lib, "-lprivatemail", "-Wl,-rpath," + lib}, nil
}

// linked plays embeddings and a model through C against those of an Engine.
func (c *contest) linked(ctx context.Context, n int, work measure.Portion) error {
	sets := []struct{ n, d int }{{min(n, mostLinkedRows), 2}, {min(n, 20_000), 64}}
	for i, s := range sets {
		if err := c.linkedEmbedding(ctx, s.n, s.d, work.Piece(i, len(sets)+1)); err != nil {
			return err
		}
	}
	if n == suites.DefaultRows { // of the flag: twice 1 GiB in two processes is for those who ask
		n = mostLinkedRows
	}
	return c.linkedModel(ctx, n, work.Piece(len(sets), len(sets)+1))
}

// linkedEmbedding plays five steps from a random start.
func (c *contest) linkedEmbedding(ctx context.Context, n, d int, work measure.Portion) error {
	matches := c.matches(record.Ratio{Suite: "linked", N: n, D: d, K: linkedColumns}, func(w int) string {
		return fmt.Sprintf("op=embed/n=%d/d=%d/k=%d/workers=%d", n, d, linkedColumns, w)
	})
	if len(matches) == 0 {
		return nil
	}
	x, _, err := synth.Classes(n, d, 20, 1)
	if err != nil {
		return err
	}
	t := c.twin("embed")
	defer t.close()
	for _, m := range matches {
		t.plays(m)
	}
	return c.playAll(ctx, "linked", func(file string) error {
		return writePoints(file, &suites.PointSet{Points: x, Radius: suites.Neighbours})
	}, matches, work)
}

// linkedModel plays the placing of rows by a model.
func (c *contest) linkedModel(ctx context.Context, n int, work measure.Portion) error {
	defer debug.FreeOSMemory()
	const classes = 10
	matches := c.matches(record.Ratio{Suite: "linked", N: n, D: appliedColumns, NNZ: int64(n) * appliedColumns}, func(w int) string {
		return fmt.Sprintf("op=apply/n=%d/d=%d/workers=%d", n, appliedColumns, w)
	})
	if len(matches) == 0 {
		return nil
	}
	recipe, err := supervised.ParseRecipe("root,unit-rows,discriminate,unit-images") // few columns: what is written takes little memory
	if err != nil {
		return err
	}
	some, labels, err := synth.Classes(2000, appliedColumns, classes, 1)
	if err != nil {
		return err
	}
	fitter, err := privatemail.New()
	if err != nil {
		return err
	}
	defer fitter.Close()
	model, err := supervised.Fit(ctx, fitter, some, labels, &supervised.Settings{Recipe: &recipe, Unmeasured: true})
	if err != nil {
		return err
	}
	x, _, err := synth.Classes(n, appliedColumns, classes, 2)
	if err != nil {
		return err
	}
	t := c.twin("apply")
	defer t.close()
	for _, m := range matches {
		m.ratio.K = model.Map.Columns()
		t.plays(m)
	}
	return c.playAll(ctx, "linked apply", func(file string) error {
		if err := model.Save(ctx, file+".model", supervised.About{}); err != nil {
			return err
		}
		return writePoints(file, &suites.PointSet{Points: x})
	}, matches, work)
}

// A twin is the program that the one in C is compared with, from Go. It is in a process of its
// own, too: with the heap of this one it would collect memory less often.
type twin struct {
	c        *contest
	argument string
	child    *measure.Child // nil until it is asked
	z        []float32
}

func (c *contest) twin(argument string) *twin { return &twin{c: c, argument: argument} }

// plays lets the twin be ours in a match.
func (t *twin) plays(m *match) {
	first := true
	m.ours = func(ctx context.Context) error {
		check := ""
		if first { // makes the result
			check = filepath.Join(t.c.folder, "ours")
		}
		if err := t.ask(ctx, m, check); err != nil || !first {
			return err
		}
		first = false
		z, err := readFloats(check, m.ratio.N*m.ratio.K)
		t.z = z
		return err
	}
	m.differ = func(file string) (float64, error) { return differingEntries(file, t.z) }
}

// ask has the twin do what the match is about once.
func (t *twin) ask(ctx context.Context, m *match, check string) error {
	if t.child == nil {
		program := filepath.Join(t.c.folder, "throughgo"+measure.ExeSuffix())
		if _, err := measure.Command(ctx, "", "go", "build", "-o", program, twinPackage); err != nil {
			return err
		}
		child, err := measure.StartChild(ctx, []string{program, t.argument}, filepath.Join(t.c.folder, "data"))
		if err != nil {
			return err
		}
		t.child = child
	}
	_, err := t.child.Round(m.ratio.K, m.ratio.Workers, 0, check)
	return err
}

func (t *twin) close() {
	if t.child != nil {
		t.child.Close()
	}
}

// differingEntries counts the entries whose bits are not ours.
func differingEntries(file string, ours []float32) (float64, error) {
	theirs, err := readFloats(file, len(ours))
	count := 0
	for i, v := range theirs {
		if math.Float32bits(v) != math.Float32bits(ours[i]) {
			count++
		}
	}
	return float64(count), err
}
