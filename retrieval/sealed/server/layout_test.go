package server

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// drawnRows returns n rows about some middles, with numbers of few bits, so that some are
// equally far from centres.
func drawnRows(random *rand.Rand, n, d, middles int) blas64.General {
	x := blas64.General{Rows: n, Cols: d, Stride: d + 1, Data: make([]float64, n*(d+1))}
	for i := range x.Data {
		x.Data[i] = math.NaN() // what is behind rows is nobody's
	}
	for i := range n {
		for j := range d {
			x.Data[i*x.Stride+j] = float64((i%middles)*(j+1)%7) + float64(random.IntN(5))/4
		}
	}
	return x
}

// plainLayout is what newLayout says it returns, row after row, with all distances.
func plainLayout(x blas64.General, rows []float32, length int) []uint32 {
	c := newCentres(rows, x.Cols, simd.At(simd.Generic))
	all := make([][]float64, x.Rows)
	order := make([]int, x.Rows)
	for i := range x.Rows {
		all[i], order[i] = make([]float64, c.count), i
		c.distances(all[i], x.Data[i*x.Stride:i*x.Stride+x.Cols])
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(slices.Min(all[a]), slices.Min(all[b])) })
	cells, used := make([]uint32, x.Rows), make([]int, c.count)
	for _, i := range order {
		best := -1
		for cell, v := range all[i] {
			if used[cell] < length && (best < 0 || v < all[i][best]) {
				best = cell
			}
		}
		cells[i] = uint32(best)
		used[best]++
	}
	return cells
}

func TestLayout(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	for _, shape := range []struct{ n, d, cells, middles, length int }{
		{1, 1, 1, 1, 2}, {40, 3, 4, 2, 13}, {600, 65, 30, 1, 20}, {600, 63, 30, 3, 21}, {500, 2, 25, 5, 25}, {300, 1, 3, 9, 125}, {90, 4, 90, 7, 2}, {64, 5, 16, 1, 4},
		{2*dealtRows + 5000, 1, 40, 1, (2*dealtRows + 5000 + 39) / 40}, // rows of the second turn have lost their centres before
	} {
		x := drawnRows(random, shape.n, shape.d, shape.middles)
		rows := make([]float32, 0, shape.cells*shape.d)
		for c := range shape.cells { // some centres are equal, too
			for j := range shape.d {
				rows = append(rows, float32(x.Data[(c*7%shape.n)*x.Stride+j]))
			}
		}
		want := plainLayout(x, rows, shape.length)
		for _, kernels := range simd.All() {
			for _, count := range []int{1, 3} {
				workers := par.New(count)
				got, err := newLayout(t.Context(), x, shape.n, newCentres(rows, shape.d, kernels), shape.length, workers, nil)
				workers.Close()
				if err != nil || !slices.Equal(got, want) {
					t.Fatalf("%v, %+v, %d workers: other cells: %v", kernels, shape, count, err)
				}
			}
		}
	}
}

// The centres of many rows are those of a sample, which the seed chooses.
func TestFindCentres(t *testing.T) {
	const n, d, cells = 1000, 2, 3
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range n {
		x.Data[i*d], x.Data[i*d+1] = float64(i), float64(i*i%1001)
	}
	drawn := sample(x, n, d, sampleOfCell*cells, 7)
	for i := range drawn.Rows {
		row := int(drawn.Data[i*d])
		if row < 0 || row >= n || float64(drawn.Data[i*d+1]) != x.Data[row*d+1] || i > 0 && drawn.Data[i*d] <= drawn.Data[(i-1)*d] {
			t.Fatalf("row %d of the sample does not exist, or is there twice", i)
		}
	}
	if other := sample(x, n, d, sampleOfCell*cells, 8); slices.Equal(other.Data, drawn.Data) {
		t.Error("another seed draws the same rows")
	}
	s := Settings{Cells: cells, Seed: 7}
	kernels := simd.At(simd.Best())
	got, err := findCentres(t.Context(), x, n, d, s, kernels)
	if err != nil {
		t.Fatal(err)
	}
	want, err := kmeans.Fit(t.Context(), drawn, cells, kmeans.Settings{Seed: 7, AnyRows: true, Kernels: kernels})
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want.Centres.RawMatrix().Data {
		if got[i] != float32(v) {
			t.Fatal("other centres than those of the sample")
		}
	}
}

// Rows that are all equal fill cells one after the other.
func TestLayoutOfEqualRows(t *testing.T) {
	x := blas64.General{Rows: 100, Cols: 2, Stride: 2, Data: slices.Repeat([]float64{1, 2}, 100)}
	cells, err := newLayout(t.Context(), x, 100, newCentres(slices.Repeat([]float32{1, 2}, 20), 2, simd.At(simd.Best())), 7, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for row, c := range cells {
		if int(c) != row/7 {
			t.Fatalf("row %d is in cell %d", row, c)
		}
	}
	ids := namesOf(cells, 20, 7)
	for name, id := range ids {
		if want := uint32(name); name < 100 && id != want || name >= 100 && id != wire.Padding {
			t.Errorf("slot %d has row %d", name, id)
		}
	}
}

func TestLayoutStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x := drawnRows(rand.New(rand.NewPCG(1, 1)), 70_000, 1, 3)
	_, err := newLayout(ctx, x, x.Rows, newCentres([]float32{0, 1, 2}, 1, simd.At(simd.Best())), x.Rows, nil, func(int, int) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The scale is that of the largest entry, or of most entries where few are far larger.
func TestScale(t *testing.T) {
	const n, d = 300, 64
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	random := rand.New(rand.NewPCG(13, 14))
	for i := range x.Data {
		x.Data[i] = random.NormFloat64()
	}
	rotated := make([]float64, d)
	for _, times := range []float64{1, 9} { // of one row
		for j := range d {
			x.Data[7*d+j] *= times
		}
		largest, squares := 0.0, 0.0
		for i := range n {
			rotation.Row(rotated, x.Data[i*d:(i+1)*d])
			for _, v := range rotated {
				largest, squares = max(largest, math.Abs(v)), squares+v*v
			}
		}
		want := min(largest, 4*math.Sqrt(squares/n/d))
		if times > 1 && want == largest {
			t.Fatal("nothing is clipped")
		}
		var first float64
		for _, count := range []int{1, 3} {
			workers := par.New(count)
			got, err := scaleOf(t.Context(), x, n, d, workers)
			workers.Close()
			if first == 0 {
				first = got
			}
			if err != nil || math.Abs(got*want-127) > 1e-9 || got != first {
				t.Errorf("%d workers: scale %g, want %g: %v", count, got, 127/want, err)
			}
		}
	}
}

func TestQuantise(t *testing.T) {
	code := make([]int8, 6)
	row := []float64{0.5, 1.5, -2.5, 200, -300, -127.4}
	norm := round(code, row, 1)
	if want := []int8{0, 2, -2, 127, -127, -127}; !slices.Equal(code, want) || norm != 4+4+3*127*127 {
		t.Errorf("%v, norm %d", code, norm)
	}
	rotated, want := make([]float64, len(row)), make([]int8, len(row))
	rotation.Row(rotated, row)
	if wantNorm := round(want, rotated, 0.3); quantise(code, row, 0.3) != wantNorm || !slices.Equal(code, want) {
		t.Errorf("%v, want the rotated row in bytes, %v", code, want)
	}
	for _, c := range []struct{ least, largest, base, unit int64 }{
		{16129, 16129, 16129, 1}, {0, 32767, 16383, 1}, {10, 32778, 16394, 2}, {0, 127 * 127 * 4096, 127 * 127 * 2048, 2017},
	} {
		s := newNormScale(c.least, c.largest)
		if s.base != c.base || s.unit != c.unit {
			t.Errorf("%d to %d: %+v", c.least, c.largest, s)
		}
		for norm := c.least; norm <= c.largest; norm += 1 + (c.largest-c.least)/999 {
			if v, ok := s.number(norm); !ok || 2*max(norm-s.base-s.unit*int64(v), s.base+s.unit*int64(v)-norm) > s.unit {
				t.Fatalf("%d to %d: %d becomes %d, %v", c.least, c.largest, norm, v, ok)
			}
		}
		for _, beyond := range []int64{s.base + 32767*s.unit, s.base - 32767*s.unit, s.base - 32768*s.unit, s.base + 1<<40} {
			if v, ok := s.number(beyond); ok {
				t.Errorf("%d to %d: %d becomes %d", c.least, c.largest, beyond, v)
			}
		}
	}
}
