package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// applyRecipes are the maps that rows are placed by.
var applyRecipes = []string{"raw", "classic", "root,unit-rows,discriminate,unit-images"}

// applyCases place the rows of a file by a map and write them to another one, as
// 'privatemail apply' does, next to copies of the file: one that is synced to the disk, as
// what apply writes is, and one that is not.
func applyCases(l *measure.Lab) (out []measure.Case) {
	n, d, workers := l.Size(1_000_000), 64, measure.AllWorkers()
	ops := []string{"copy/synced=yes", "copy/synced=no"}
	for _, recipe := range applyRecipes {
		ops = append(ops, "apply/recipe="+recipe)
	}
	for _, op := range ops {
		out = append(out, measure.Case{
			Name: fmt.Sprintf("op=%s/n=%d/d=%d/workers=%d", op, n, d, workers), N: n, D: d, Workers: workers,
			Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) {
				s, err := measure.Shared(l, "apply", func() (*applySetting, error) { return newApplySetting(ctx, l, n, d) })
				if err != nil {
					return nil, err
				}
				return s.subject(ctx, op)
			},
		})
	}
	return out
}

// An applySetting is a file of rows, and where others go.
type applySetting struct {
	engine      *privatemail.Engine
	sample      blas32.General // rows that maps are made from
	labels      []int32
	rows        int
	source, out string
}

func newApplySetting(ctx context.Context, l *measure.Lab, n, d int) (*applySetting, error) {
	x, labels, err := synth.Classes(n, d, 20, 1)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "pmbench-apply-")
	if err != nil {
		return nil, err
	}
	l.AtClose(func() { os.RemoveAll(folder) })
	s := &applySetting{rows: n, source: filepath.Join(folder, "rows.npy"), out: filepath.Join(folder, "placed.npy")}
	if s.engine, err = privatemail.New(privatemail.WithWorkers(measure.AllWorkers())); err != nil {
		return nil, err
	}
	l.AtClose(func() { s.engine.Close() })
	some := min(n, 20_000)
	s.sample, s.labels = blas32.General{Rows: some, Cols: d, Stride: d, Data: x.Data[:some*d]}, labels[:some]
	return s, formats.WriteRows(ctx, s.source, n, d, func(put func([]float32) error) error { return put(x.Data) })
}

func (s *applySetting) subject(ctx context.Context, op string) (*measure.Subject, error) {
	sub := &measure.Subject{
		Run: func(context.Context) error { return s.copy(op == "copy/synced=yes") },
		NNZ: int64(s.rows), Pairs: true, Roof: measure.RoofRead, Bytes: 8 * int64(s.rows) * int64(s.sample.Cols), Eta: math.NaN(), EtaP99: math.NaN(),
	}
	recipe, ok := strings.CutPrefix(op, "apply/recipe=")
	if !ok {
		return sub, nil
	}
	parsed, err := supervised.ParseRecipe(recipe)
	if err != nil {
		return nil, err
	}
	by, err := parsed.NewMap(ctx, s.sample, s.labels)
	if err != nil {
		return nil, err
	}
	sub.Run = func(ctx context.Context) error { return s.apply(ctx, by) }
	return sub, nil
}

// apply reads, places and writes all rows.
func (s *applySetting) apply(ctx context.Context, by *supervised.Map) error {
	return formats.StreamMatrix(s.source, 0, func(r *formats.RowReader) error {
		return formats.WriteRows(ctx, s.out, r.Rows, by.Columns(), func(put func([]float32) error) error {
			read := func(dst blas32.General) (int, error) { return r.Read(dst.Data) }
			return by.Stream(ctx, s.engine, read, func(z blas32.General) error { return put(z.Data[:z.Rows*z.Cols]) })
		})
	})
}

// copy copies the file as it is, to a new one.
func (s *applySetting) copy(synced bool) error {
	if err := os.Remove(s.out); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	from, err := os.Open(s.source)
	if err != nil {
		return err
	}
	defer from.Close() // it was only read
	to, err := os.Create(s.out)
	if err != nil {
		return err
	}
	if _, err = io.Copy(to, from); err == nil && synced {
		err = to.Sync()
	}
	return errors.Join(err, to.Close())
}

// writeCopyRatios prints how much longer than copies of the file placing its rows takes.
func writeCopyRatios(w io.Writer, all []record.Summary) error {
	copies := map[string]float64{}
	for _, s := range all {
		if s.Suite == "apply" {
			copies[s.Case] = s.Seconds
		}
	}
	for _, s := range all {
		recipe, ok := strings.CutPrefix(s.Case, "op=apply/recipe=")
		if !ok || s.Suite != "apply" {
			continue
		}
		recipe, size, _ := strings.Cut(recipe, "/")
		synced, plain := copies["op=copy/synced=yes/"+size], copies["op=copy/synced=no/"+size]
		if synced == 0 || plain == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s: %.2f times a copy that is synced, %.2f times one that is not\n", recipe, s.Seconds/synced, s.Seconds/plain); err != nil {
			return err
		}
	}
	return nil
}
