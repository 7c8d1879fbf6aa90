package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// randomAnswer returns an answer with lists that end anywhere, and the rows by number.
func randomAnswer(random *rand.Rand) (a *CellsAnswer, rows map[uint32][]float32) {
	a = &CellsAnswer{Codebook: Hash{byte(random.Uint32())}, Length: 1 + random.IntN(200), Dimension: 1 + random.IntN(150)}
	rows = map[uint32][]float32{}
	for i := range 1 + random.IntN(3) {
		a.Cells = append(a.Cells, uint32(5*i+random.IntN(5)))
		full := random.IntN(a.Length + 1)
		for j := range a.Length {
			if j >= full {
				a.IDs = append(a.IDs, Padding)
				a.Rows = append(a.Rows, make([]float32, a.Dimension)...)
				continue
			}
			id := uint32(3*j + random.IntN(3))
			if rows[id] == nil {
				for range a.Dimension {
					rows[id] = append(rows[id], float32(random.NormFloat64()))
				}
			}
			a.IDs, a.Rows = append(a.IDs, id), append(a.Rows, rows[id]...)
		}
	}
	return a, rows
}

// Gathered rows give the bytes of the plain answer.
func TestWriteGatheredIsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		a, rows := randomAnswer(random)
		want := plainAnswer(a)
		a.Rows = nil
		var out bytes.Buffer
		n, err := a.WriteGathered(&out, func(id uint32) []float32 { return rows[id] })
		if err != nil || n != int64(len(want)) || !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("%d lists of %d rows of %d: %d bytes, want %d: %v", len(a.Cells), a.Length, a.Dimension, n, len(want), err)
		}
	}
}

// What is wrong with the lists is found before anything is written, and a bad row when
// its turn comes. The reader refuses what it has then.
func TestWriteGatheredRefuses(t *testing.T) {
	good := func(uint32) []float32 { return []float32{1} }
	for name, change := range map[string]func(*CellsAnswer){
		"rows":      func(a *CellsAnswer) { a.Rows = make([]float32, len(a.IDs)) },
		"cells":     func(a *CellsAnswer) { a.Cells = nil },
		"ids":       func(a *CellsAnswer) { a.IDs[1] = a.IDs[0] },
		"length":    func(a *CellsAnswer) { a.Length++ },
		"dimension": func(a *CellsAnswer) { a.Dimension = 0 },
		"no message is that long": func(a *CellsAnswer) {
			a.Cells, a.Length, a.Dimension = a.Cells[:1], 1+maxMessage/4/limits.MaxDimension, limits.MaxDimension
			a.IDs = slices.Repeat([]uint32{Padding}, a.Length)
		},
	} {
		a := testAnswer()
		a.Rows = nil
		change(a)
		var out bytes.Buffer
		if n, err := a.WriteGathered(&out, good); n != 0 || out.Len() != 0 || !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
	for name, row := range map[string][]float32{
		"none": nil, "too long": {1, 2}, "NaN": {float32(math.NaN())}, "infinite": {float32(math.Inf(-1))},
	} {
		a := testAnswer()
		a.Rows = nil
		var out bytes.Buffer
		_, err := a.WriteGathered(&out, func(id uint32) []float32 {
			if id == 5 {
				return row
			}
			return good(id)
		})
		if !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %v", name, err)
		}
		if err := new(CellsAnswer).UnmarshalBinary(out.Bytes()); err == nil {
			t.Errorf("%s: what was written is read", name)
		}
	}
	a := testAnswer()
	a.Rows = nil
	if n, err := a.WriteGathered(&limited{20}, good); n != 20 || !errors.Is(err, errFull) {
		t.Errorf("a writer that fails: %d, %v", n, err)
	}
}

// Rows that are gathered take no memory of their own.
func TestWriteGatheredMemory(t *testing.T) {
	a := &CellsAnswer{Cells: []uint32{1}, Length: 1 << 14, Dimension: 64}
	row := make([]float32, a.Dimension)
	for i := range a.Length {
		a.IDs = append(a.IDs, uint32(i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := a.WriteGathered(io.Discard, func(uint32) []float32 { return row })
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 1<<18 {
		t.Errorf("%d bytes of memory for an answer of %d: %v", n, 4*a.Length*a.Dimension, err)
	}
}
