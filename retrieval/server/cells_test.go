package server

import (
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

const testRows = 400

func gallery(t *testing.T) blas32.General {
	t.Helper()
	x, err := synth.Clustered(testRows, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func newCells(t *testing.T, settings CellsSettings) *Cells {
	t.Helper()
	x := gallery(t)
	c, err := NewCells(t.Context(), x, x, settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCellsLists(t *testing.T) {
	x := gallery(t)
	for name, c := range map[string]struct {
		settings CellsSettings
		cells    int
		length   int // of lists before the rest joins; a partition has empty ones
	}{
		"default":   {CellsSettings{Epsilon: 1}, 12, 50},
		"six":       {CellsSettings{Epsilon: 6}, 20, 50},
		"share":     {CellsSettings{Epsilon: 1, Share: 0.25}, 6, 100},
		"two":       {CellsSettings{Epsilon: 1, Size: 2}, 12, 25},
		"given":     {CellsSettings{Cells: 7}, 7, 50},
		"partition": {CellsSettings{Partition: true}, 8, 50},
	} {
		server := newCells(t, c.settings)
		book := server.Codebook()
		if book.Cells() != c.cells || book.Rows != testRows || book.Size != max(1, c.settings.Size) {
			t.Errorf("%s: %d of %d cells for %d rows", name, book.Size, book.Cells(), book.Rows)
			continue
		}
		want := plainLists(x, x, book, c.settings.Partition, c.length)
		longest, sum := 0, 0
		for cell, list := range server.lists {
			if !slices.Equal(list, want[cell]) {
				t.Errorf("%s: list %d is %v, want %v", name, cell, list, want[cell])
			}
			longest, sum = max(longest, len(list)), sum+len(list)
		}
		if book.Length != longest || server.ListLength() != float64(sum)/float64(c.cells) {
			t.Errorf("%s: length %d, mean %g", name, book.Length, server.ListLength())
		}
		if c.settings.Partition && sum != testRows {
			t.Errorf("%d rows in a partition of %d", sum, testRows)
		}
	}
}

func TestCellsSameBits(t *testing.T) {
	want, err := newCells(t, CellsSettings{Epsilon: 4, Seed: 3}).Codebook().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range []int{1, 3} {
		workers := par.New(count)
		got, err := newCells(t, CellsSettings{Epsilon: 4, Seed: 3, Workers: workers}).Codebook().MarshalBinary()
		workers.Close()
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d workers: another codebook: %v", count, err)
		}
	}
	for _, other := range []CellsSettings{{Epsilon: 4, Seed: 4}, {Epsilon: 4, Seed: 3, Version: 1}} {
		got, err := newCells(t, other).Codebook().MarshalBinary()
		if err != nil || slices.Equal(got, want) {
			t.Errorf("%+v gives the same codebook: %v", other, err)
		}
	}
}

// Lists are built in one space and hold the rows of the other.
func TestCellsAnswer(t *testing.T) {
	space := gallery(t)
	ranking := blas32.General{Rows: testRows, Cols: 2, Stride: 3, Data: make([]float32, 3*testRows)}
	for i := range testRows {
		ranking.Data[3*i], ranking.Data[3*i+1] = float32(i), -float32(i)
	}
	server, err := NewCells(t.Context(), space, ranking, CellsSettings{Epsilon: 1, Size: 2})
	if err != nil {
		t.Fatal(err)
	}
	hash, err := server.Codebook().Hash()
	if err != nil {
		t.Fatal(err)
	}
	answer, err := server.Answer(&wire.CellsRequest{Codebook: hash, Cells: []uint32{3, 11}}, wire.Float32)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Check(); err != nil {
		t.Fatal(err)
	}
	for i, cell := range answer.Cells {
		if !slices.Equal(answer.List(i), server.lists[cell]) {
			t.Errorf("list %d is not that of cell %d", i, cell)
		}
	}
	for i, id := range answer.IDs {
		row := answer.Rows[2*i : 2*i+2]
		if want := []float32{float32(id), -float32(id)}; id != wire.Padding && !slices.Equal(row, want) || id == wire.Padding && !slices.Equal(row, []float32{0, 0}) {
			t.Errorf("row %d is %v", id, row)
		}
	}
	// Whatever the cells, an answer has the same number of bytes.
	other, err := server.Answer(&wire.CellsRequest{Codebook: hash, Cells: []uint32{0, 1}}, wire.Float32)
	if err != nil {
		t.Fatal(err)
	}
	a, errA := answer.MarshalBinary()
	b, errB := other.MarshalBinary()
	if errA != nil || errB != nil || len(a) != len(b) {
		t.Errorf("%d and %d bytes, %v, %v", len(a), len(b), errA, errB)
	}
}

// Lists of a partition differ in length, and answers do not, compressed or not.
func TestCellsAnswersDoNotCompress(t *testing.T) {
	server := newCells(t, CellsSettings{Partition: true, Share: 1. / 4})
	hash, err := server.Codebook().Hash()
	if err != nil {
		t.Fatal(err)
	}
	for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
		checkCompressed(t, server, hash, encoding)
	}
}

func checkCompressed(t *testing.T, server *Cells, hash wire.Hash, encoding wire.Encoding) {
	t.Helper()
	shortest, least, most := testRows, math.MaxInt, 0
	for cell, list := range server.lists {
		shortest = min(shortest, len(list))
		answer, err := server.Answer(&wire.CellsRequest{Codebook: hash, Cells: []uint32{uint32(cell)}}, encoding)
		if err != nil {
			t.Fatal(err)
		}
		frame, err := answer.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		w, err := flate.NewWriter(&out, flate.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(frame); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		least, most = min(least, out.Len()), max(most, out.Len())
	}
	if shortest > server.book.Length*9/10 {
		t.Errorf("the shortest list has %d of %d rows", shortest, server.book.Length)
	}
	if most-least > 8 {
		t.Errorf("%s: %d to %d bytes", encoding, least, most)
	}
}

func TestCellsBase(t *testing.T) {
	server := newCells(t, CellsSettings{Epsilon: 1, Seed: 5})
	base := server.Base(wire.Float32)
	if err := base.Check(); err != nil || len(base.IDs) != testRows/16 {
		t.Fatalf("%d rows: %v", len(base.IDs), err)
	}
	x := gallery(t)
	for i, id := range base.IDs {
		if !slices.Equal(base.Rows[i*6:(i+1)*6], x.Data[int(id)*x.Stride:][:6]) {
			t.Errorf("row %d is not that of the gallery", id)
		}
	}
	if all := newCells(t, CellsSettings{Epsilon: 1, Base: 1}).Base(wire.Float32); len(all.IDs) != testRows {
		t.Errorf("%d rows of all", len(all.IDs))
	}
	if hash, err := server.Codebook().Hash(); err != nil || base.Codebook != hash {
		t.Errorf("of another codebook: %v", err)
	}
}

func TestCellsRefuseRequests(t *testing.T) {
	server := newCells(t, CellsSettings{Epsilon: 1})
	hash, err := server.Codebook().Hash()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		request *wire.CellsRequest
		want    error
	}{
		"none":         {nil, ErrQuestion},
		"empty":        {&wire.CellsRequest{Codebook: hash}, wire.ErrMessage},
		"other book":   {&wire.CellsRequest{Cells: []uint32{1}}, wire.ErrCodebook},
		"two cells":    {&wire.CellsRequest{Codebook: hash, Cells: []uint32{1, 2}}, ErrQuestion},
		"no such cell": {&wire.CellsRequest{Codebook: hash, Cells: []uint32{12}}, ErrQuestion},
		"falling":      {&wire.CellsRequest{Codebook: hash, Cells: []uint32{2, 1}}, wire.ErrMessage},
	} {
		if answer, err := server.Answer(c.request, wire.Float32); !errors.Is(err, c.want) || answer != nil {
			t.Errorf("%s: %v, %v", name, answer, err)
		}
	}
}

func TestCellsRefuseGalleries(t *testing.T) {
	x := gallery(t)
	nan := gallery(t)
	nan.Data[7] = float32(math.NaN())
	short := x
	short.Rows--
	for name, c := range map[string]struct {
		space, ranking blas32.General
		settings       CellsSettings
		want           error
	}{
		"nothing":         {blas32.General{}, blas32.General{}, CellsSettings{Epsilon: 1}, ErrGallery},
		"other rows":      {x, short, CellsSettings{Epsilon: 1}, ErrGallery},
		"short storage":   {blas32.General{Rows: 9, Cols: 2, Stride: 2}, x, CellsSettings{Epsilon: 1}, ErrGallery},
		"short ranking":   {x, blas32.General{Rows: 9, Cols: 2, Stride: 2}, CellsSettings{Epsilon: 1}, ErrGallery},
		"nan":             {nan, x, CellsSettings{Epsilon: 1}, points.ErrNonFinite},
		"nan in ranking":  {x, nan, CellsSettings{Epsilon: 1}, points.ErrNonFinite},
		"no epsilon":      {x, x, CellsSettings{}, ErrCells},
		"share":           {x, x, CellsSettings{Epsilon: 1, Share: 0.7}, ErrCells},
		"nan share":       {x, x, CellsSettings{Epsilon: 1, Share: math.NaN()}, ErrCells},
		"base":            {x, x, CellsSettings{Epsilon: 1, Base: 2}, ErrCells},
		"size":            {x, x, CellsSettings{Epsilon: 1, Size: 12}, ErrCells},
		"negative size":   {x, x, CellsSettings{Epsilon: 1, Size: -1}, ErrCells},
		"too many cells":  {x, x, CellsSettings{Cells: testRows + 1}, ErrCells},
		"negative cells":  {x, x, CellsSettings{Cells: -3}, ErrCells},
		"tiny partition":  {x, x, CellsSettings{Partition: true, Share: 1e-300}, ErrCells},
		"epsilon too big": {x, x, CellsSettings{Epsilon: 40}, ErrCells},
	} {
		if cells, err := NewCells(t.Context(), c.space, c.ranking, c.settings); !errors.Is(err, c.want) || cells != nil {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
	big := blas64.General{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 1e300}} // beyond float32
	if _, err := NewCells(t.Context(), big, big, CellsSettings{Cells: 2}); !errors.Is(err, ErrGallery) {
		t.Errorf("overflow: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := NewCells(ctx, x, x, CellsSettings{Epsilon: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
}
