package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/internal/usage"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Gallery is an epoch of a sealed gallery: rows in slots of cells, which it multiplies into
// queries that it cannot read. It grows by Insert and shrinks by Remove, and each of them makes
// a version. It is safe for concurrent use: an answer is of one version, because a change
// waits for the passes that are running, and passes that come later wait for the change.
type Gallery struct {
	manifest  wire.SealedManifest // of version 0
	epoch     wire.Hash
	public    *scheme.Matrix
	centres   *centres
	norms     normScale
	published []byte // the map

	mu      sync.RWMutex // of all that a change changes
	slots   slots
	log     history
	source  string
	workers *par.Workers

	calls    usage.Calls
	file     *sections.File // what all this is a view of; nil where New made it
	closing  sync.Once
	closeErr error
}

// slots are a version of a gallery. Numbers that somebody else may read, or that are a view of
// a file, are copied before they change.
type slots struct {
	version uint64
	matrix  *matrix
	hint    shared[uint32] // rows x scheme.SecretWords
	ids     shared[uint32] // by name; wire.Padding where there is no row
	norms   shared[int16]  // by name; wire.EmptySlot where there is no row
	rows    int            // slots that have one
	used    []int          // of each cell
}

// shared are numbers that others may read after they were lent.
type shared[T any] struct {
	values []T
	lent   atomic.Bool
}

// lend returns the numbers for somebody to read for as long as he likes.
func (s *shared[T]) lend() []T {
	s.lent.Store(true)
	return s.values
}

// own returns the numbers for a change, in memory that nobody else reads.
func (s *shared[T]) own() []T {
	if s.lent.Load() {
		s.values = slices.Clone(s.values)
		s.lent.Store(false)
	}
	return s.values
}

// New lays the rows of a gallery out and computes their hint. Rows are those of the space in
// which clients rank, one an item; their row numbers are their ids. They are rounded to bytes,
// and nothing else is kept of them.
//
// For n rows of dimension d it takes 25 steps of k-means on at most 256 rows a cell, n m d
// multiply-adds in float64 to compare rows with the m centres, in each round of
// Settings.Rounds again, and 1.25 n d times 1408 multiply-adds of words for the hint. It takes
// memory for 1.25 n d bytes, the hint and some 60 bytes a row. Errors are ErrGallery, also for
// numbers that are not finite, ErrMemory, and that of the context.
func New[M blas32.General | blas64.General](ctx context.Context, ranking M, settings Settings) (g *Gallery, err error) {
	defer func() {
		if err != nil {
			g, err = nil, fmt.Errorf("sealed server: %w", err)
		}
	}()
	defer par.Catch(&err) // of rows that change meanwhile
	n, d, err := points.Dims(ranking)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGallery, err)
	}
	if n < 1 || n > limits.MaxRows || d < 1 || d > limits.MaxDimension {
		return nil, fmt.Errorf("%w: %d rows of dimension %d", ErrGallery, n, d)
	}
	if settings, err = settings.withDefaults(n, d); err != nil {
		return nil, err
	}
	if err := points.CheckFinite(ranking); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGallery, err)
	}
	if err := checkMemory("a gallery", galleryBytes(n, d, settings)); err != nil {
		return nil, err
	}
	g = &Gallery{published: slices.Clone(settings.Map), source: settings.Source, workers: settings.Workers, log: history{most: settings.History}}
	return g, build(ctx, g, ranking, n, d, settings)
}

// galleryBytes is what New takes for n rows of dimension d.
func galleryBytes(n, d int, s Settings) int64 {
	slots, length := s.slots(n), s.length(n)
	sampled := min(int64(n), sampleOfCell*int64(s.Cells))
	panels := panelBytes(length, s.Cells*d)
	hint := (&matrix{padded: paddedRows(length), columns: s.Cells * d}).hintBytes()
	return panels + 6*slots + max(hint, layoutBytes(n)+sampled*(4*int64(d)+32))
}

// build lays out the rows of a gallery.
func build[M points.Matrix](ctx context.Context, g *Gallery, x M, n, d int, s Settings) error {
	scale, err := scaleOf(ctx, x, n, d, g.workers)
	if err != nil {
		return err
	}
	length := s.length(n)
	g.slots.matrix = newMatrix(length, s.Cells*d)
	kernels := g.slots.matrix.kernels
	ids, centres, err := place(ctx, x, n, d, s, kernels)
	if err != nil {
		return err
	}
	g.slots.ids.values = ids
	g.centres = newCentres(centres, d, kernels)
	g.manifest = wire.SealedManifest{
		Rows: n, Cells: s.Cells, Length: length, Dimension: d, Probes: s.Probes, Scale: scale, Centres: centres,
	}
	if s.Map != nil {
		g.manifest.Map = sha256.Sum256(s.Map)
	}
	if err := fill(ctx, g, x); err != nil {
		return err
	}
	if err := g.begin(); err != nil {
		return fmt.Errorf("%w: %w", ErrGallery, err)
	}
	g.slots.hint.values, err = g.slots.matrix.hint(ctx, g.workers, g.public, s.stage("hint"))
	return err
}

// fill puts the rows into their slots and sets all of the manifest that follows from them.
func fill[M points.Matrix](ctx context.Context, g *Gallery, x M) error {
	m := &g.manifest
	norms := make([]int64, m.Slots())
	if err := g.workers.Do(ctx, m.Cells, par.Func(func(_, cell int) {
		row, code := make([]float64, m.Dimension), make([]int8, m.Dimension)
		for slot := range m.Length {
			name := cell*m.Length + slot
			id := g.slots.ids.values[name]
			if id == wire.Padding {
				continue
			}
			points.ReadRow(row, x, int(id))
			norms[name] = quantise(code, row, m.Scale)
			g.slots.matrix.setRow(slot, cell*m.Dimension, code)
		}
	})); err != nil {
		return err
	}
	least, largest := int64(-1), int64(0)
	for name, norm := range norms {
		if g.slots.ids.values[name] == wire.Padding {
			continue
		}
		largest = max(largest, norm)
		if least < 0 || norm < least {
			least = norm
		}
	}
	scale := newNormScale(least, largest)
	m.NormBase, m.NormUnit = scale.base, scale.unit
	// Rows that come later may be a little longer: rounding makes rows of unit length so.
	m.MaxNorm = min(largest+largest/normRoom, largestByte*largestByte*int64(m.Dimension))
	m.Kappa = scheme.Kappa(m.MaxNorm, m.Cells, m.Dimension)
	m.Norms = make([]int16, len(norms))
	for name, norm := range norms {
		if m.Norms[name] = wire.EmptySlot; g.slots.ids.values[name] != wire.Padding {
			m.Norms[name], _ = scale.number(norm) // it is between the least and the largest
		}
	}
	g.slots.norms.values = m.Norms
	g.slots.norms.lend() // the manifest stays as it is
	return nil
}

// begin sets what follows from the manifest and the slots.
func (g *Gallery) begin() (err error) {
	m := &g.manifest
	if g.epoch, err = m.Hash(); err != nil {
		return err
	}
	if kappa := scheme.Kappa(m.MaxNorm, m.Cells, m.Dimension); m.Kappa != kappa {
		return fmt.Errorf("kappa is %d, want %d", m.Kappa, kappa)
	}
	g.public = scheme.NewMatrix(g.epoch)
	g.norms = normScale{m.NormBase, m.NormUnit}
	g.slots.rows, g.slots.used = 0, make([]int, m.Cells)
	for name, norm := range g.slots.norms.values {
		if norm != wire.EmptySlot {
			g.slots.rows++
			g.slots.used[name/m.Length]++
		}
	}
	return nil
}

// Manifest returns what is published of the epoch, at version 0. It must not be changed.
func (g *Gallery) Manifest() *wire.SealedManifest { return &g.manifest }

// Epoch returns the hash of the manifest, which names the epoch.
func (g *Gallery) Epoch() wire.Hash { return g.epoch }

// Map returns Settings.Map. It must not be changed. Of a gallery that Open has opened it is a
// view of the file: whoever reads it while somebody may call Close calls Hold before.
func (g *Gallery) Map() []byte { return g.published }

// Source returns Settings.Source, or what SetSource has set since.
func (g *Gallery) Source() string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.source
}

// SetSource sets what Source returns and Save keeps, such as after rows were inserted. The error
// is ErrGallery for one that Settings.Source does not allow.
func (g *Gallery) SetSource(source string) error {
	if err := checkSource(source); err != nil {
		return fmt.Errorf("sealed server: %w", err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.source = source
	return nil
}

// SetWorkers lends workers to the answers to come, in place of those it had; nil lets each
// answer be computed by its caller alone. It waits for the passes that are running.
func (g *Gallery) SetWorkers(workers *par.Workers) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.workers = workers
}

// Version returns the current version, 0 where nothing was inserted or removed.
func (g *Gallery) Version() uint64 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.slots.version
}

// Rows returns the number of rows of the current version.
func (g *Gallery) Rows() int {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.slots.rows
}

// Hint returns the hint of the current version, with the norms that are others than in the
// manifest. It must not be changed; later versions leave it as it is. Hold keeps it as it does
// Map.
func (g *Gallery) Hint() *wire.SealedHint {
	g.mu.RLock()
	defer g.mu.RUnlock()
	h := &wire.SealedHint{Epoch: g.epoch, Version: g.slots.version, Rows: g.manifest.Length, Words: g.slots.hint.lend()}
	for name, norm := range g.slots.norms.values {
		if norm != g.manifest.Norms[name] {
			h.Names, h.Norms = append(h.Names, uint32(name)), append(h.Norms, norm)
		}
	}
	return h
}

// IDs returns the row numbers of the current version by name. It must not be changed; later
// versions leave it as it is. Hold keeps it as it does Map.
func (g *Gallery) IDs() *wire.SealedIDs {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return &wire.SealedIDs{Epoch: g.epoch, Version: g.slots.version, IDs: g.slots.ids.lend()}
}
