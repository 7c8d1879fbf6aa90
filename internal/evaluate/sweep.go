package evaluate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/par"
)

// A Sweep measures cells, several at a time.
type Sweep struct {
	// Data and Modes are what the cells name.
	Data  []*Data
	Modes []Mode
	// Journal has the cells of earlier runs and gets those of this one; nil when
	// everything is to be measured and nothing kept.
	Journal *Journal
	// Workers is how many goroutines a run works with, at most and by default GOMAXPROCS. As
	// many cells are measured at a time. Where there are fewer cells, each has several workers.
	Workers int
	// Progress is told of every finished cell, one call at a time; nil when nobody
	// listens. The cells that the journal has come first.
	Progress func(done, total int)
}

// Run returns a record for each cell, in their order. It stops at the first error,
// which names the cell. An UnavailableError does not stop it, and becomes part of the
// record. What was finished is in the journal. Cells should come sorted by data set and
// seed, as Grid makes them: rows and maps are kept only as long as a cell may still
// need them.
func (s *Sweep) Run(ctx context.Context, cells []Cell) ([]Record, error) {
	run, err := s.prepare(cells)
	if err != nil {
		return nil, err
	}
	if len(run.missing) == 0 {
		return run.records, ctx.Err()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	workers := par.New(min(run.workers, len(run.missing)))
	defer workers.Close()
	teams, dismiss := run.teams(workers.Count())
	defer dismiss()
	err = workers.Do(ctx, len(run.missing), par.Func(func(worker, piece int) {
		if err := run.measure(ctx, run.missing[piece], teams[worker]); err != nil {
			cancel(err) // only the first counts
		}
	}))
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, err
	}
	return run.records, nil
}

// teams returns the workers that each of that many cells at a time works with, nil where there
// are none to spare, and a function that stops them. They stay until the last cell is done:
// what cells share may have kept them.
func (s *sweeping) teams(cells int) (teams []*par.Workers, dismiss func()) {
	teams = make([]*par.Workers, cells)
	if size := s.workers / cells; size > 1 {
		for i := range teams {
			teams[i] = par.New(size)
		}
	}
	return teams, func() {
		for _, team := range teams {
			team.Close()
		}
	}
}

// sweeping is a running sweep.
type sweeping struct {
	*Sweep
	cells   []Cell
	records []Record
	missing []int // cells that the journal does not have
	workers int
	modes   map[string]Mode
	data    map[string]*Data

	mu       sync.Mutex
	done     int
	problems map[problemKey]*sharedProblem
}

type problemKey struct {
	data string
	seed uint64
}

// sharedProblem is made by the first cell that needs it and dropped by the last.
type sharedProblem struct {
	once    sync.Once
	users   int
	problem *Problem
	err     error
}

func (s *Sweep) prepare(cells []Cell) (*sweeping, error) {
	run := &sweeping{
		Sweep: s, cells: cells, records: make([]Record, len(cells)), workers: runtime.GOMAXPROCS(0),
		modes: make(map[string]Mode), data: make(map[string]*Data), problems: make(map[problemKey]*sharedProblem),
	}
	if s.Workers > 0 {
		run.workers = min(run.workers, s.Workers)
	}
	for _, m := range s.Modes {
		run.modes[m.Name] = m
	}
	for _, d := range s.Data {
		run.data[d.Name] = d
	}
	for i, c := range cells {
		if _, ok := run.modes[c.Mode]; !ok {
			return nil, fmt.Errorf("evaluate: sweep: there is no mode %q", c.Mode)
		}
		if run.data[c.Data] == nil {
			return nil, fmt.Errorf("evaluate: sweep: there is no data set %q", c.Data)
		}
		if !c.finite() {
			return nil, fmt.Errorf("evaluate: sweep: %w among the parameters of %s", ErrNonFinite, c.Mode)
		}
		if s.Journal != nil {
			if r, ok := s.Journal.Find(c); ok {
				run.records[i] = r
				run.done++
				continue
			}
		}
		run.missing = append(run.missing, i)
		key := problemKey{c.Data, c.Seed}
		if run.problems[key] == nil {
			run.problems[key] = new(sharedProblem)
		}
		run.problems[key].users++
	}
	if run.done > 0 {
		run.report()
	}
	return run, nil
}

// report tells of progress; the lock is held, or nobody else runs yet.
func (s *sweeping) report() {
	if s.Progress != nil {
		s.Progress(s.done, len(s.cells))
	}
}

// measure does cell i.
func (s *sweeping) measure(ctx context.Context, i int, workers *par.Workers) error {
	c := s.cells[i]
	key := problemKey{c.Data, c.Seed}
	s.mu.Lock()
	shared := s.problems[key]
	s.mu.Unlock()
	shared.once.Do(func() { shared.problem, shared.err = NewProblem(s.data[c.Data], c.Seed) })
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if shared.users--; shared.users == 0 {
			delete(s.problems, key)
		}
	}()
	if shared.err != nil {
		return shared.err
	}
	r, err := measure(ctx, shared.problem, s.modes[c.Mode], c, workers)
	if err != nil {
		return err
	}
	if s.Journal != nil {
		if err := s.Journal.add(*r); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[i] = *r
	s.done++
	s.report()
	return nil
}

// measure lets the mode answer and scores the answer.
func measure(ctx context.Context, p *Problem, m Mode, c Cell, workers *par.Workers) (*Record, error) {
	began := time.Now()
	t := &Task{Problem: p, Params: c.Params, Queries: p.Queries, Workers: workers}
	labels := p.queryLabels
	if n, d := p.Queries.Dims(); c.Queries > 0 && c.Queries < n {
		t.Queries = p.Queries.Slice(0, c.Queries, 0, d).(*mat.Dense)
		labels = labels[:c.Queries]
	}
	if m.SeesQueryLabels {
		t.QueryLabels = labels
	}
	r := &Record{Key: c.key(), Cell: c, Asked: len(labels), Classes: p.Classes, Gallery: len(p.GalleryLabels)}
	answer, err := m.Run(ctx, t)
	if missing := (*UnavailableError)(nil); errors.As(err, &missing) {
		r.Unavailable = missing.Reason
		return r, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", c, err)
	}
	if r.Figures, err = answer.figures(labels, p.GalleryLabels); err != nil {
		return nil, fmt.Errorf("%v: %w", c, err)
	}
	r.Figures = withRandomRows(r.Figures, labels, p.GalleryLabels)
	r.Download, r.Base, r.Volume = answer.Download, answer.Base, answer.Volume
	r.Facts, r.Note, r.Seconds = answer.Facts, answer.Note, time.Since(began).Seconds()
	return r, nil
}
