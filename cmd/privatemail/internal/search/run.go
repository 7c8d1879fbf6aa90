package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/predictions"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// rowSide is the gallery or the queries.
type rowSide struct {
	files.Input
	x blas32.General
	y []int32 // nil when there are no labels
}

// search is one run of the verb.
type search struct {
	flags            *searchFlags
	gallery, queries rowSide
	releases         []func()

	ids       []int32 // k for each query
	distances []float32
	scored    int    // queries with a label
	hits      [2]int // of them, with a row of their class nearest, and among the k nearest
	seconds   float64

	classes *predictions.Predictions // nil where no classes are wanted
}

// openSearch reads the files and refuses what does not fit.
func openSearch(ctx context.Context, f *searchFlags, gallery, queries files.Input) (*search, error) {
	s := &search{flags: f}
	if err := s.read(ctx, &s.gallery, gallery); err != nil {
		return nil, err
	}
	s.queries = s.gallery
	if !f.self {
		queries.Read.Like = gallery.ColumnsOf()
		if err := s.read(ctx, &s.queries, queries); err != nil {
			s.release()
			return nil, err
		}
	}
	err := s.check()
	if err == nil && !f.self {
		err = s.oneNumbering()
	}
	if err != nil {
		s.release()
		return nil, err
	}
	return s, nil
}

// oneNumbering gives the classes of the queries the numbers of the gallery where both have
// names, which each file numbers for itself. A class that the gallery does not have gets a
// number beyond its own.
func (s *search) oneNumbering() error {
	there, here := s.gallery.ClassNames(), s.queries.ClassNames()
	if s.gallery.y == nil || !predictions.AnyLabel(s.queries.y) || there == nil && here == nil {
		return nil
	}
	if there == nil || here == nil {
		return fmt.Errorf("%s: its labels and those of %s are names in one file and numbers in the other", s.queries.Features, s.gallery.Features)
	}
	predictions.NumberAs(s.queries.y, here, there)
	return nil
}

func (s *search) read(ctx context.Context, to *rowSide, in files.Input) error {
	x, y, release, err := files.ReadRows(ctx, in, " (-1 for none)")
	if err != nil {
		return err
	}
	*to = rowSide{in, x, y}
	s.releases = append(s.releases, release)
	return nil
}

func (s *search) release() {
	for _, release := range s.releases {
		release()
	}
	s.releases = nil
}

// check refuses sizes.
func (s *search) check() error {
	n, others := s.gallery.x.Rows, s.gallery.x.Rows
	if s.flags.self {
		others--
	}
	switch {
	case s.gallery.x.Cols == 0:
		return fmt.Errorf("%s: rows without a column", s.gallery.Features)
	case s.flags.self && n == 1:
		return files.RefuseOneRow(s.gallery.Features, n)
	case s.queries.x.Cols != s.gallery.x.Cols:
		return fmt.Errorf("%s: rows of %d values, but those of %s have %d", s.queries.Features, s.queries.x.Cols, s.gallery.Features, s.gallery.x.Cols)
	case s.flags.self && s.flags.k > others:
		return fmt.Errorf("%s: a row has %d others, fewer than the %d of -k", s.gallery.Features, others, s.flags.k)
	case s.flags.k > others:
		return fmt.Errorf("%s: %d rows, fewer than the %d of -k", s.gallery.Features, n, s.flags.k)
	case n > math.MaxInt32:
		return fmt.Errorf("%s: %d rows, and their numbers are written as int32: split the gallery", s.gallery.Features, n)
	}
	return nil
}

// prepare takes the memory for the answers and divides rows by their norm with
// -normalize-rows.
func (s *search) prepare(ctx context.Context) error {
	answers := float64(s.queries.x.Rows) * float64(s.flags.k)
	n, d := float64(s.gallery.x.Rows), float64(s.gallery.x.Cols)
	own := answers*8 + float64(s.batch())*float64(s.flags.k)*16 + n*(4*d+16) // the last is the search's own copy
	if s.flags.normalizeRows {
		own += 4 * d * n
		if !s.flags.self {
			own += 4 * float64(s.queries.x.Cols) * float64(s.queries.x.Rows)
		}
	}
	if _, err := pipeline.Reserve(cmp.Or(s.flags.work.MaxMemory, mem.DefaultLimit()), own, fmt.Sprintf("search for %d neighbours of %d queries", s.flags.k, s.queries.x.Rows)); err != nil {
		return files.Explain(err, s.gallery.Input)
	}
	if err := s.gallery.prepare(ctx, s.flags.normalizeRows); err != nil {
		return err
	}
	if s.flags.self {
		s.queries = s.gallery
	} else if err := s.queries.prepare(ctx, s.flags.normalizeRows); err != nil {
		return err
	}
	s.ids, s.distances = make([]int32, 0, int(answers)), make([]float32, 0, int(answers))
	return nil
}

// prepare refuses numbers that are not finite and divides rows by their norm.
func (d *rowSide) prepare(ctx context.Context, normalize bool) error {
	x := d.x
	if normalize {
		x = blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: x.Cols, Data: make([]float32, x.Rows*x.Cols)}
	}
	const rows = 4096 // between two looks at the context
	for from := 0; from < x.Rows; from += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+rows, x.Rows)
		if err := prepareRows(files.RowsOf(x, from, to), files.RowsOf(d.x, from, to), normalize); err != nil {
			return files.Explain(shiftRow(err, from), d.Input)
		}
	}
	d.x = x
	return nil
}

func prepareRows(dst, x blas32.General, normalize bool) error {
	if normalize {
		return points.NormalizeRows(dst, x)
	}
	return points.CheckFinite(x)
}

// shiftRow returns an error on rows that begin at the given one as an error on all.
func shiftRow(err error, from int) error {
	if e, ok := errors.AsType[*points.NonFiniteError](err); ok {
		return &points.NonFiniteError{What: e.What, Row: e.Row + from, Col: e.Col}
	}
	if e, ok := errors.AsType[*points.ZeroRowError](err); ok {
		return &points.ZeroRowError{Row: e.Row + from}
	}
	return err
}

// batch is how many queries are searched for at a time, so that progress moves: some
// 2e10 differences, but no fewer queries than keep the workers busy.
func (s *search) batch() int {
	const differences, least, most = 2e10, 256, 8192
	queries := differences / (float64(s.gallery.x.Rows) * float64(s.gallery.x.Cols))
	return min(int(max(least, min(queries, most))), s.queries.x.Rows)
}

// find searches batch by batch.
func (s *search) find(ctx context.Context, e *cli.Env) error {
	m := progress.NewMeter(e)
	engine, stop, err := files.EngineWith(e, s.flags.work, false, m)
	if err != nil {
		return err
	}
	defer stop()
	settings := nearest.Settings{Workers: engine.Lend()}
	began, size, n := time.Now(), s.batch(), s.queries.x.Rows
	var rows []int
	if s.flags.self {
		rows = make([]int, n)
		for i := range rows {
			rows[i] = i
		}
	}
	for from := 0; from < n; from += size {
		to := min(from+size, n)
		index, squared, err := s.nearest(ctx, rows, from, to, settings)
		if err != nil {
			return err
		}
		s.keep(index, squared, from, to)
		m.Report(privatemail.Progress{Stage: "search", Done: to, Total: n})
	}
	s.seconds = time.Since(began).Seconds()
	return nil
}

// nearest searches for queries from to to-1; rows are the numbers of all rows of the
// gallery, for a search within it.
func (s *search) nearest(ctx context.Context, rows []int, from, to int, settings nearest.Settings) (index []int, squared []float64, err error) {
	if s.flags.self {
		return nearest.Within(ctx, s.gallery.x, rows[from:to], rows, s.flags.k, settings)
	}
	return nearest.Rows(ctx, files.RowsOf(s.queries.x, from, to), s.gallery.x, s.flags.k, settings)
}

// keep adds the answers to queries from to to-1 and counts those of the right class.
func (s *search) keep(index []int, squared []float64, from, to int) {
	for p, id := range index {
		s.ids = append(s.ids, int32(id))
		s.distances = append(s.distances, float32(math.Sqrt(squared[p])))
	}
	if s.gallery.y == nil || s.queries.y == nil {
		return
	}
	for q, class := range s.queries.y[from:to] {
		if class < 0 {
			continue
		}
		s.scored++
		for place, id := range index[q*s.flags.k : (q+1)*s.flags.k] {
			if s.gallery.y[id] != class {
				continue
			}
			if place == 0 {
				s.hits[0]++
			}
			s.hits[1]++
			break
		}
	}
}

// recallMissing reports whether labels are known of one side only.
func (s *search) recallMissing() bool { return (s.gallery.y == nil) != (s.queries.y == nil) }

// write writes the files, that of the classes first: it counts how many are right.
func (s *search) write(ctx context.Context) error {
	if err := s.predict(ctx); err != nil {
		return err
	}
	return files.WriteAnswerFiles(ctx, s.flags.out, s.flags.distancesOut, s.queries.x.Rows, s.flags.k, s.ids, s.distances)
}

// predict finds the classes of the queries.
func (s *search) predict(ctx context.Context) error {
	if s.flags.predict == "" {
		return nil
	}
	s.classes = &predictions.Predictions{Names: s.gallery.ClassNames(), Labels: s.queries.y}
	k := s.flags.k
	labels := make([]int32, k)
	var line []byte
	return predictions.WritePredictions(ctx, s.flags.predict, func(put func([]byte) error) error {
		for q := range s.queries.x.Rows {
			for i, id := range s.ids[q*k : (q+1)*k] {
				labels[i] = s.gallery.y[id]
			}
			class, share := supervised.Vote(labels)
			line = s.classes.Add(line[:0], class, share)
			if err := put(line); err != nil {
				return err
			}
		}
		return nil
	})
}
