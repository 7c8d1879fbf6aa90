package evaluate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// A Problem is a data set under one seed, ready to be searched: prepared rows, which
// have unit length, and the labels that a server may have. The labels of the queries are kept back;
// only scoring sees them. A Problem is read-only and safe for concurrent use.
type Problem struct {
	Name string
	Seed uint64
	// Public, Gallery and Queries are unit rows of one dimension.
	Public, Gallery, Queries    *mat.Dense
	PublicLabels, GalleryLabels []int32
	// Classes is how many classes the gallery has.
	Classes int

	queryLabels []int32
	raw         *rawRows // nil for rows that come prepared
	mu          sync.Mutex
	made        map[string]*making
}

// Part is unit rows with a label each, -1 for none.
type Part struct {
	Rows   *mat.Dense
	Labels []int32
}

// NewProblem splits the data by the seed and prepares the rows. Errors are those of
// Split, Features and Assemble, and ErrShape for a gallery of fewer rows than an answer
// has.
func NewProblem(d *Data, seed uint64) (*Problem, error) {
	if d.Generate != nil {
		return d.Generate(seed)
	}
	split, err := d.Division.Split(d.Labels, seed)
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, d.Name)
	}
	if n := len(split.Gallery); n < ListLength {
		return nil, fmt.Errorf("evaluate: %s: %w: %d gallery rows, and an answer has %d", d.Name, ErrShape, n, ListLength)
	}
	f, err := Features(d.Features, split.Public, d.dimensions())
	if errors.Is(err, ErrZeroRow) {
		return nil, fmt.Errorf("%w (%s); rows of zeros, and rows of one column, have no direction: leave them out", err, d.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, d.Name)
	}
	part := func(rows []int) Part { return Part{chooseRows(f, rows), pick(d.Labels, rows)} }
	p, err := Assemble(d.Name, seed, part(split.Public), part(split.Gallery), part(split.Queries))
	if err != nil {
		return nil, err
	}
	p.raw = &rawRows{d.Features, split.Gallery, split.Queries}
	return p, nil
}

// Assemble makes a problem of rows that are ready to be searched. The error is
// ErrShape where sizes do not fit and ErrLabel for a query without a class.
func Assemble(name string, seed uint64, public, gallery, queries Part) (*Problem, error) {
	parts := []Part{public, gallery, queries}
	if slices.ContainsFunc(parts, func(p Part) bool { return p.Rows == nil }) {
		return nil, fmt.Errorf("evaluate: %s: %w: a part without rows", name, ErrShape)
	}
	_, d := gallery.Rows.Dims()
	for _, p := range parts {
		if n, cols := p.Rows.Dims(); n == 0 || n != len(p.Labels) || cols != d {
			return nil, fmt.Errorf("evaluate: %s: %w: %d x %d rows, %d labels", name, ErrShape, n, cols, len(p.Labels))
		}
	}
	for q, label := range queries.Labels {
		if label < 0 {
			return nil, fmt.Errorf("evaluate: %s: %w: query %d", name, ErrLabel, q+1)
		}
	}
	return &Problem{
		Name: name, Seed: seed, Public: public.Rows, Gallery: gallery.Rows, Queries: queries.Rows,
		PublicLabels: public.Labels, GalleryLabels: gallery.Labels, queryLabels: queries.Labels,
		Classes: len(classesOf(gallery.Labels)), made: make(map[string]*making),
	}, nil
}

func chooseRows(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		out.SetRow(i, x.RawRowView(row))
	}
	return out
}

// classesOf returns the classes among labels, rising.
func classesOf(labels []int32) []int32 {
	classes := slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	return slices.DeleteFunc(classes, func(c int32) bool { return c < 0 })
}

// making is a value that is made once.
type making struct {
	done  chan struct{}
	value any
	err   error
}

// Shared returns a value that several cells of a sweep need of one problem, such as a
// fitted map. build runs once for each key, and calls with the same key wait for it. An
// error is not kept: the next call builds again.
func Shared[T any](ctx context.Context, p *Problem, key string, build func() (T, error)) (T, error) {
	var none T
	p.mu.Lock()
	m, ok := p.made[key]
	if !ok {
		m = &making{done: make(chan struct{})}
		p.made[key] = m
	}
	p.mu.Unlock()
	if ok {
		select {
		case <-m.done:
		case <-ctx.Done():
			return none, ctx.Err()
		}
	} else {
		func() {
			defer close(m.done)
			m.err = fmt.Errorf("evaluate: making %s panicked", key) // unless it returns
			m.value, m.err = build()
		}()
		if m.err != nil {
			p.mu.Lock()
			delete(p.made, key)
			p.mu.Unlock()
		}
	}
	if m.err != nil {
		return none, m.err
	}
	return m.value.(T), nil
}
