package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime/debug"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/clibrary"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
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
func (c *contest) linked(ctx context.Context, n int, work portion) error {
	sets := []struct{ n, d int }{{min(n, mostLinkedRows), 2}, {min(n, 20_000), 64}}
	for i, s := range sets {
		if err := c.linkedEmbedding(ctx, s.n, s.d, work.piece(i, len(sets)+1)); err != nil {
			return err
		}
	}
	if n == defaultRows { // of the flag: twice 1 GiB in two processes is for those who ask
		n = mostLinkedRows
	}
	return c.linkedModel(ctx, n, work.piece(len(sets), len(sets)+1))
}

// linkedEmbedding plays five steps from a random start.
func (c *contest) linkedEmbedding(ctx context.Context, n, d int, work portion) error {
	matches := c.matches(Ratio{Suite: "linked", N: n, D: d, K: linkedColumns}, func(w int) string {
		return fmt.Sprintf("op=embed/n=%d/d=%d/k=%d/workers=%d", n, d, linkedColumns, w)
	})
	if len(matches) == 0 {
		return nil
	}
	x, _, err := synth.Classes(n, d, 20, 1)
	if err != nil {
		return err
	}
	z := blas32.General{Rows: n, Cols: linkedColumns, Stride: linkedColumns, Data: make([]float32, n*linkedColumns)}
	settings := &privatemail.Settings{MeanNeighbours: neighbours, Operator: "csr", Columns: linkedColumns, Steps: iterateSteps, Seed: 1, Into: z}
	for _, m := range matches {
		engine, err := c.linkedEngine(m.ratio.Workers)
		if err != nil {
			return err
		}
		m.ours = func(ctx context.Context) error {
			out, err := engine.Embed(ctx, x, nil, settings)
			if err == nil {
				m.ratio.NNZ = out.Graph.Cost.NNZ
			}
			return err
		}
		m.differ = func(file string) (float64, error) { return differingEntries(file, z.Data) }
	}
	return c.playAll(ctx, "linked", func(file string) error {
		return writePoints(file, &pointSet{points: x, radius: neighbours})
	}, matches, work)
}

// linkedModel plays the placing of rows by a model.
func (c *contest) linkedModel(ctx context.Context, n int, work portion) error {
	defer debug.FreeOSMemory()
	const classes = 10
	matches := c.matches(Ratio{Suite: "linked", N: n, D: appliedColumns, NNZ: int64(n) * appliedColumns}, func(w int) string {
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
	fitter, err := c.linkedEngine(allWorkers())
	if err != nil {
		return err
	}
	model, err := supervised.Fit(ctx, fitter, some, labels, &supervised.Settings{Recipe: &recipe, Unmeasured: true})
	if err != nil {
		return err
	}
	x, _, err := synth.Classes(n, appliedColumns, classes, 2)
	if err != nil {
		return err
	}
	for _, m := range matches {
		engine, err := c.linkedEngine(m.ratio.Workers)
		if err != nil {
			return err
		}
		m.ratio.K = model.Map.Columns()
		var z blas32.General
		m.ours = func(ctx context.Context) (err error) {
			z, err = model.Map.Place(ctx, engine, x)
			return err
		}
		m.differ = func(file string) (float64, error) { return differingEntries(file, z.Data) }
	}
	return c.playAll(ctx, "linked apply", func(file string) error {
		if err := model.Save(ctx, file+".model", supervised.About{}); err != nil {
			return err
		}
		return writePoints(file, &pointSet{points: x})
	}, matches, work)
}

// linkedEngine is an Engine as pm_engine_new makes one. The lab closes it.
func (c *contest) linkedEngine(workers int) (*privatemail.Engine, error) {
	return shared(c.lab, fmt.Sprint("linked engine ", workers), func() (*privatemail.Engine, error) {
		e, err := privatemail.New(privatemail.WithWorkers(workers), privatemail.WithCalibration(kernel.Calibration{}))
		if err == nil {
			c.lab.atClose(func() { e.Close() })
		}
		return e, err
	})
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
