package server

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// takenGallery reads the gallery as a client does.
func takenGallery(t *testing.T, c *Cells) *wire.AllRows {
	t.Helper()
	var g wire.AllRows
	if err := g.UnmarshalBinary(c.AllRowsFrame()); err != nil {
		t.Fatal(err)
	}
	if want := c.Codebook().AllRowsBytes(); int64(len(c.AllRowsFrame())) != want {
		t.Fatalf("a gallery of %d bytes, the codebook says %d", len(c.AllRowsFrame()), want)
	}
	return &g
}

// awkward returns galleries that compact rows could go wrong on.
func awkward(t *testing.T) map[string]blas32.General {
	t.Helper()
	random := rand.New(rand.NewPCG(3, 3))
	fill := func(n, d int, entry func(i, j int) float32) blas32.General {
		x := blas32.General{Rows: n, Cols: d, Stride: d}
		for i := range n {
			for j := range d {
				x.Data = append(x.Data, entry(i, j))
			}
		}
		return x
	}
	normal := func(int, int) float32 { return float32(random.NormFloat64()) }
	return map[string]blas32.General{
		"clustered": gallery(t),
		"normal":    fill(300, 65, normal),
		"one":       fill(100, 1, normal),
		"zeros":     fill(50, 4, func(int, int) float32 { return 0 }),
		"equal":     fill(50, 4, func(_, j int) float32 { return float32(j) + 0.1 }),
		"two":       fill(2, 3, normal),
		"tiny":      fill(200, 8, func(int, int) float32 { return math.SmallestNonzeroFloat32 * float32(random.IntN(5)) }),
		"huge":      fill(200, 8, func(int, int) float32 { return math.MaxFloat32 / 8 * float32(random.IntN(3)-1) }),
		"largest":   fill(200, 8, func(int, int) float32 { return math.MaxFloat32 * float32(2*random.IntN(2)-1) }),
		"long":      fill(2, 65535, normal),
		"spread": fill(200, 8, func(i, _ int) float32 {
			return float32(math.Ldexp(random.NormFloat64(), i%60-30))
		}),
		"one row far": fill(200, 8, func(i, _ int) float32 {
			if i == 7 {
				return 1e20
			}
			return float32(random.NormFloat64())
		}),
	}
}

// Each rotated entry is within half a unit of its row, plus what float64 rounds, and no code
// is beyond the largest. The anchor is the nearest, and the step the least that reaches.
func TestCompactBound(t *testing.T) {
	for name, x := range awkward(t) {
		c, err := NewCells(t.Context(), x, x, CellsSettings{Cells: 2, Encoded: -1})
		if err != nil {
			t.Fatal(name, err)
		}
		book, rows := c.Codebook(), &takenGallery(t, c).Rows
		if want := min(128, max(1, x.Rows/32)); book.AnchorCount() != want || len(rows.Anchors) != x.Rows {
			t.Errorf("%s: %d anchors for %d rows, want %d for %d", name, book.AnchorCount(), len(rows.Anchors), want, x.Rows)
		}
		largest := 0.
		for i := range x.Rows {
			row := make([]float64, x.Cols)
			for j := range row {
				row[j] = float64(x.Data[i*x.Stride+j])
			}
			rotation.Row(row, row)
			if int(rows.Anchors[i])%book.AnchorCount() != kmeans.Nearest(row, book.Anchors) {
				t.Fatalf("%s: row %d is not at its nearest anchor", name, i)
			}
			anchor, turn := book.Place(rows.Anchors[i])
			unit, size := book.Unit(rows.Steps[i]), 0.
			for j, v := range row {
				size += math.Abs(v) + math.Abs(float64(anchor[j])) // what rounding goes by
				row[j] = v - float64(anchor[j])
			}
			least, peak, first := math.Inf(1), 0., 0 // the least peak, and the first turn that has it
			away := slices.Clone(row)
			for other := range limits.Turns {
				largest := 0.
				for j, v := range away {
					largest = max(largest, math.Abs(v))
					if other == turn {
						if off := math.Abs(unit*float64(rows.Codes[i*x.Cols+j]) - v); off > unit/2+1e-14*size {
							t.Fatalf("%s: row %d, entry %d is off by %g units", name, i, j, off/unit)
						}
					}
				}
				if largest < least {
					least, first = largest, other
				}
				if other == turn {
					peak = largest
				}
				rotation.Row(away, away)
			}
			if peak > least || turn > first {
				t.Errorf("%s: row %d has a peak of %g at turn %d, and one of %g at turn %d", name, i, peak, turn, least, first)
			}
			largest = max(largest, peak)
			if s := rows.Steps[i]; s > 0 && book.Unit(s-1)*limits.MaxCode >= peak*(1+1e-12) {
				t.Errorf("%s: row %d has step %d, and a smaller one reaches", name, i, s)
			}
		}
		if s := float64(book.Scale) * limits.MaxCode; s < largest || largest > 1e-30 && s > largest*(1+1e-6) {
			t.Errorf("%s: a scale that reaches %g for %g", name, s, largest)
		}
	}
}

func TestScaleOf(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		peak := math.Ldexp(random.Float64(), random.IntN(250)-120)
		scale, err := scaleOf(peak)
		if exact := peak / limits.MaxCode; err != nil || float64(scale) < exact || float64(math.Nextafter32(scale, 0)) >= exact {
			t.Errorf("%g: %g, %v", peak, scale, err)
		}
	}
	if scale, err := scaleOf(0); scale != 0 || err != nil {
		t.Errorf("0: %g, %v", scale, err)
	}
	if _, err := scaleOf(128 * math.MaxFloat32); !errors.Is(err, ErrGallery) {
		t.Errorf("error %v", err)
	}
}

// The same bits for any number of workers, also where anchors are found in a sample.
func TestCompactSameBits(t *testing.T) {
	many, err := synth.Clustered(anchorSample+1000, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]blas32.General{"all": gallery(t), "sample": many} {
		var want []byte
		for _, count := range []int{1, 3} {
			workers := par.New(count)
			c := &Cells{rows: x.Data, book: wire.Codebook{Rows: x.Rows, Ranking: x.Cols}}
			rows, err := c.compactRows(t.Context(), workers)
			workers.Close()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.keepGallery(rows); err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want = c.gallery
			}
			if !bytes.Equal(c.gallery, want) {
				t.Errorf("%s: %d workers make other rows", name, count)
			}
		}
	}
}

// The base sample of int8 has the rows of that of float32, as the gallery has them.
func TestCompactBase(t *testing.T) {
	c := newCells(t, CellsSettings{Epsilon: 1, Seed: 5})
	single, compact := c.Base(wire.Float32), c.Base(wire.Int8)
	if err := compact.Check(); err != nil || compact.Encoding != wire.Int8 || !reflect.DeepEqual(single.IDs, compact.IDs) || compact.Codebook != single.Codebook {
		t.Fatalf("another sample: %v", err)
	}
	rows := &takenGallery(t, c).Rows
	for i, id := range compact.IDs {
		d := compact.Dimension
		if compact.Compact.Anchors[i] != rows.Anchors[id] || compact.Compact.Steps[i] != rows.Steps[id] ||
			!reflect.DeepEqual(compact.Compact.Codes[i*d:(i+1)*d], rows.Codes[int(id)*d:][:d]) {
			t.Errorf("row %d is not that of the gallery", id)
		}
	}
	if c.Base(2) != nil {
		t.Error("a sample of no encoding")
	}
}
