package rows

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// A Request asks a search for the pairs of points within a radius and their weights.
type Request struct {
	Points   *Points
	Radius   float64
	Gamma    float64                // the weight of points at distance d is exp(-Gamma d^2)
	Layout   sparse.Layout          // of the matrix of weights
	Memory   int64                  // bytes that the search may take, the matrix included
	Held     int64                  // bytes of Memory that the caller counts as taken in addition to the matrix; a search that takes more counts more
	Reserve  func(bytes int64) bool // asked before memory is taken, with all that the search will hold; nil when all of Memory may be taken
	Nearest  bool                   // the caller may ask Result.Nearest; otherwise the search keeps nothing for it
	Workers  *par.Workers           // nil when the caller works alone
	Ranks    *par.Ranks             // the processes that make the same request; nil for one alone
	Whole    bool                   // every rank finds all rows; otherwise ranks share them
	Kernels  *simd.Kernels
	Progress func(stage string, done, total int) // nil when nobody listens
}

// Weight returns the weight of points at the squared distance d2.
func (r *Request) Weight(d2 float64) float64 { return math.Exp(-r.Gamma * d2) }

// Sharing returns the ranks that share the rows; nil when this process finds all.
func (r *Request) Sharing() *par.Ranks {
	if r.Whole {
		return nil
	}
	return r.Ranks
}

// Stage returns the progress of a stage.
func (r *Request) Stage(stage string, total int) *Progress {
	return NewProgress(r.Progress, stage, total)
}

// StoredBytes returns the bytes that a matrix of n rows takes without an entry, and the
// bytes that an entry adds.
func (r *Request) StoredBytes(n int) (none, entry int64) {
	none, _ = r.Layout.Bytes(n, 0)
	one, _ := r.Layout.Bytes(n, 1)
	return none, one - none
}

// RowBytes is the bytes that a row takes in addition to its weights until a graph is done: the
// count, tail, sum, degree, bound, order and group of the row.
const RowBytes = 8 + 8 + 8 + 8 + 4 + 4 + 4

// A Result is what a search found: the weights between distinct points, and bounds of the
// weights it left out.
type Result struct {
	Weights *sparse.CSR // shared where ranks share the search; Order, Group and Stats are whole on every rank
	Spans   []Span      // all columns of each chunk of Weights that is here are in its span; nil when the search does not know
	Slabs   []*Slab     // the memory of Weights, for the next search; nil when it cannot be used again
	Sums    []float64   // sum of each row of Weights, 0 of a row that is not here; nil when the search has not summed them
	Order   []uint32    // given row of each row in the order of the search; nil when the orders are the same
	Group   []uint32    // distinct point g is rows Group[g] to Group[g+1]-1 of Order; nil when all points are distinct
	Tails   []float64   // bounds the weight left out of each row of Weights that is here, from the first of these on
	Peak    int64       // bytes taken at most
	Stats   Stats
	// Distance returns the squared distance of two distinct points.
	Distance func(i, j int) float64
	// Nearest finds the k nearest of some distinct points, of which there are more than k: of
	// each their places, nearest first, and their squared distances. At the same distance
	// lower given rows come first. nil when the search has kept nothing for it.
	Nearest func(ctx context.Context, k int, list []uint32) (place []uint32, d2 []float64, err error)
}

// A Span is the columns from Least to Most.
type Span struct{ Least, Most uint32 }

// NoColumns is a span without columns: it begins behind its end.
var NoColumns = Span{Least: math.MaxUint32}

// Within reports whether all columns of the span are among those from lo to hi-1.
func (s Span) Within(lo, hi uint32) bool { return s.Least > s.Most || s.Least >= lo && s.Most < hi }

// Multiplicity returns how many given points distinct point i stands for.
func (r *Result) Multiplicity(i int) float64 {
	if r.Group == nil {
		return 1
	}
	return float64(r.Group[i+1] - r.Group[i])
}

// Stats say how many pairs the filters of a search in many dimensions left. Package codes
// explains the filters.
type Stats struct {
	Depth, Tiles int   // entries of a code; tiles of points
	Balls        bool  // tiles have balls around them
	Pairs        int64 // of points
	Compared     int64 // by their codes
	Measured     int64 // whose distance was computed
	Found        int64 // within the radius
}

// Take asks for the bytes that the search will hold in all. What names what they are for,
// and is "" when they are for weights. Where one rank is refused, all are.
func (r *Request) Take(ctx context.Context, what string, bytes int64) error {
	return r.Agree(ctx, what, r.ask(what, bytes))
}

// TakeEqual is Take for bytes that are the same on every rank, as Memory is. Where there is no
// Reserve to ask, ranks need not meet: all come to the same answer.
func (r *Request) TakeEqual(ctx context.Context, what string, bytes int64) error {
	if r.Reserve == nil {
		return r.ask(what, bytes)
	}
	return r.Take(ctx, what, bytes)
}

// ask is Take for this rank alone.
func (r *Request) ask(what string, bytes int64) error {
	switch {
	case bytes > r.Memory:
		return &MemoryError{What: what, Need: bytes}
	case r.Reserve != nil && !r.Reserve(bytes):
		return &MemoryError{What: what, Need: bytes, Denied: true}
	}
	return nil
}

// A MemoryError says that a search needs more memory than it may take.
type MemoryError struct {
	What   string // what the memory is for; "" when it is for weights
	Need   int64
	Denied bool // Request.Reserve has refused it
}

// Error implements error.
func (e *MemoryError) Error() string {
	what := e.What
	if what == "" {
		what = "weights"
	}
	return fmt.Sprintf("%s: needs %d bytes", what, e.Need)
}

// TooManyWeights returns the error that refuses weights that take the given number of
// bytes.
func TooManyWeights(bytes float64) error { return &MemoryError{Need: mem.Saturate(bytes)} }

// Arrays are the three arrays of a matrix of weights.
type Arrays struct {
	Ptr []uint64
	Ind []uint32
	Val []float32
}

// Allocate makes the arrays of a matrix whose row i has counts[i+1] entries. It turns
// counts into row pointers, in place. It refuses a matrix that does not fit into the
// memory that is left when held bytes are taken.
func (r *Request) Allocate(ctx context.Context, counts []uint64, held int64) (a Arrays, err error) {
	a.Ptr = counts
	for i := 1; i < len(a.Ptr); i++ {
		a.Ptr[i] += a.Ptr[i-1]
	}
	nnz := a.Ptr[len(a.Ptr)-1]
	need, ok := r.Layout.Bytes(len(a.Ptr)-1, nnz)
	if !ok {
		need = math.MaxInt64
	}
	if err := r.Take(ctx, "", mem.Saturate(float64(need)+float64(held))); err != nil {
		return Arrays{}, err
	}
	// Go clears memory that is used again, which takes its time: two workers do it.
	err = r.Workers.Do(ctx, 2, par.Func(func(_, piece int) {
		if piece == 0 {
			a.Ind = make([]uint32, nnz)
			mem.Huge(a.Ind)
		} else {
			a.Val = make([]float32, nnz)
			mem.Huge(a.Val)
		}
	}))
	return a, err
}

// Adopt makes an n x n matrix of the arrays a.
func (r *Request) Adopt(ctx context.Context, n int, a Arrays) (*sparse.CSR, error) {
	return sparse.Adopt(ctx, r.Workers, r.Layout, n, n, a.Ptr, a.Ind, a.Val)
}
