package paper

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Public is the labelled set both sides have before a query: its rows are the
// anchors two embeddings are aligned on, and dummies are drawn from it. It is
// immutable and safe for concurrent use.
type Public struct {
	features blas64.General
	labels   []int32
	byClass  [][]int
	hash     [sha256.Size]byte
}

// NewPublic copies the rows, scaled to unit norm, and their labels, each in 0 ..
// classes-1. The errors are kernel.ErrShape, kernel.ErrNonFinite,
// privatemail.ErrZeroRow and kernel.ErrLabels.
func NewPublic(features blas64.General, labels []int32, classes int) (*Public, error) {
	n, d, err := points.Dims(features)
	if err != nil {
		return nil, fmt.Errorf("paper: public rows: %w", err)
	}
	if n < 1 || d < 1 || len(labels) != n || classes < 1 || classes > math.MaxInt32 {
		return nil, fmt.Errorf("paper: public rows: %w: %d x %d with %d labels of %d classes", kernel.ErrShape, n, d, len(labels), classes)
	}
	if err := points.CheckFinite(features); err != nil {
		return nil, fmt.Errorf("paper: public rows: %w", err)
	}
	p := &Public{
		features: blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)},
		labels:   append([]int32(nil), labels...),
		byClass:  make([][]int, classes),
	}
	hash := sha256.New()
	number := make([]byte, 8)
	add := func(v uint64) {
		binary.LittleEndian.PutUint64(number, v)
		hash.Write(number)
	}
	hash.Write([]byte("privatemail public rows 1"))
	for _, v := range []int{n, d, classes} {
		add(uint64(v))
	}
	for i, y := range labels {
		if y < 0 || int(y) >= classes {
			return nil, fmt.Errorf("paper: public rows: %w: row %d, want 0 to %d", kernel.ErrLabels, i+1, classes-1)
		}
		row := p.features.Data[i*d:][:d]
		points.ReadRow(row, features, i)
		if points.Normalize(row) == 0 {
			return nil, fmt.Errorf("paper: public rows: %w", &points.ZeroRowError{Row: i})
		}
		p.byClass[y] = append(p.byClass[y], i)
		add(uint64(y))
		for _, v := range row {
			add(math.Float64bits(v))
		}
	}
	hash.Sum(p.hash[:0])
	return p, nil
}

// Rows returns the number of rows.
func (p *Public) Rows() int { return p.features.Rows }

// Dimension returns the number of features of a row.
func (p *Public) Dimension() int { return p.features.Cols }

// Classes returns the number of classes; some may have no row.
func (p *Public) Classes() int { return len(p.byClass) }

// Features returns the unit rows, which must not be changed.
func (p *Public) Features() blas64.General { return p.features }

// Labels returns the labels of the rows, which must not be changed.
func (p *Public) Labels() []int32 { return p.labels }

// OfClass returns the numbers of the rows of a class in 0 .. Classes()-1. They
// must not be changed.
func (p *Public) OfClass(class int) []int { return p.byClass[class] }

// Hash tells two sets apart: the sides of a query must hold the same one.
func (p *Public) Hash() [sha256.Size]byte { return p.hash }
