package wire

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
)

// viewOf returns a view of the frame of a gallery.
func viewOf(t *testing.T, g *AllRows) *RowsView {
	t.Helper()
	frame, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	view, err := ViewRows(frame)
	if err != nil {
		t.Fatal(err)
	}
	return view
}

// randomGallery returns rows, the last of them farther than any number of randomAnswer.
func randomGallery(random *rand.Rand, codebook Hash, n, d int) *AllRows {
	g := &AllRows{Codebook: codebook, Dimension: d}
	for range n {
		g.Rows.Anchors = append(g.Rows.Anchors, uint16(random.Uint32()))
		g.Rows.Steps = append(g.Rows.Steps, uint16(random.Uint32()))
		for range d {
			g.Rows.Codes = append(g.Rows.Codes, int8(random.IntN(255)-127))
		}
	}
	return g
}

// Rows that are gathered from a view give the bytes of the plain answer.
func TestWriteGatheredCompactIsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	for range 60 {
		a, _ := randomAnswer(random)
		g := randomGallery(random, a.Codebook, 3*a.Length, a.Dimension)
		view := viewOf(t, g)
		if view.Codebook() != g.Codebook || view.Rows() != 3*a.Length || view.Dimension() != a.Dimension {
			t.Fatalf("a view of %d x %d", view.Rows(), view.Dimension())
		}
		a.Encoding, a.Rows = Int8, nil
		var want Compact
		for _, id := range a.IDs {
			if id == Padding {
				want.Anchors, want.Steps = append(want.Anchors, 0), append(want.Steps, 0)
				want.Codes = append(want.Codes, make([]int8, a.Dimension)...)
				continue
			}
			want.Anchors, want.Steps = append(want.Anchors, g.Rows.Anchors[id]), append(want.Steps, g.Rows.Steps[id])
			want.Codes = append(want.Codes, g.Rows.Codes[int(id)*a.Dimension:][:a.Dimension]...)
		}
		var out bytes.Buffer
		n, err := a.WriteGatheredCompact(&out, view)
		var gathered Compact
		if err := view.Gather(&gathered, a.IDs); err != nil || !reflect.DeepEqual(gathered, want) {
			t.Fatalf("other rows are gathered: %v", err)
		}
		a.Compact = want
		if plain := plainAnswer(a); err != nil || n != int64(len(plain)) || !bytes.Equal(out.Bytes(), plain) {
			t.Fatalf("%d lists of %d rows of %d: %d bytes, want %d: %v", len(a.Cells), a.Length, a.Dimension, n, len(plain), err)
		}
	}
}

// What is wrong is found before anything is written, but for codes, which are found when
// their turn comes.
func TestWriteGatheredCompactRefuses(t *testing.T) {
	g := randomGallery(rand.New(rand.NewPCG(1, 1)), Hash{1}, 6, 1)
	view := viewOf(t, g)
	for name, change := range map[string]func(*CellsAnswer){
		"rows":      func(a *CellsAnswer) { a.Rows = make([]float32, len(a.IDs)) },
		"compact":   func(a *CellsAnswer) { a.Compact.Steps = []uint16{1} },
		"encoding":  func(a *CellsAnswer) { a.Encoding = Float32 },
		"cells":     func(a *CellsAnswer) { a.Cells = nil },
		"ids":       func(a *CellsAnswer) { a.IDs[1] = a.IDs[0] },
		"beyond":    func(a *CellsAnswer) { a.IDs[1] = 6 },
		"dimension": func(a *CellsAnswer) { a.Dimension = 2 },
		"codebook":  func(a *CellsAnswer) { a.Codebook = Hash{2} },
	} {
		a := testCompactAnswer()
		a.Compact = Compact{}
		change(a)
		var out bytes.Buffer
		if n, err := a.WriteGatheredCompact(&out, view); n != 0 || out.Len() != 0 || !errors.Is(err, ErrMessage) {
			t.Errorf("%s: %d bytes, %v", name, n, err)
		}
	}
	a := testCompactAnswer()
	a.Compact = Compact{}
	if n, err := a.WriteGatheredCompact(io.Discard, nil); n != 0 || !errors.Is(err, ErrMessage) {
		t.Errorf("no view: %d bytes, %v", n, err)
	}
	if n, err := a.WriteGathered(io.Discard, func(uint32) []float32 { return []float32{1} }); n != 0 || !errors.Is(err, ErrMessage) {
		t.Errorf("rows of float32 for an answer of int8: %d bytes, %v", n, err)
	}
	if n, err := a.WriteGatheredCompact(&limited{20}, view); n != 20 || !errors.Is(err, errFull) {
		t.Errorf("a writer that fails: %d, %v", n, err)
	}
	frame, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	frame[len(frame)-crcPairSize-1] = 0x80 // the code of row 5
	if view, err = ViewRows(frame); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.WriteGatheredCompact(&out, view); !errors.Is(err, ErrMessage) {
		t.Errorf("an invalid code: %v", err)
	}
	if err := new(CellsAnswer).UnmarshalBinary(out.Bytes()); err == nil {
		t.Error("what was written is read")
	}
	var rows Compact
	if err := view.Gather(&rows, []uint32{5}); !errors.Is(err, ErrMessage) {
		t.Errorf("an invalid code is gathered: %v", err)
	}
	if err := view.Gather(&rows, []uint32{6}); !errors.Is(err, ErrMessage) {
		t.Errorf("a row that is not there is gathered: %v", err)
	}
}

// Rows that are gathered take no memory of their own.
func TestWriteGatheredCompactMemory(t *testing.T) {
	a := &CellsAnswer{Cells: []uint32{1}, Length: 1 << 14, Dimension: 64, Encoding: Int8}
	for i := range a.Length {
		a.IDs = append(a.IDs, uint32(i))
	}
	view := viewOf(t, randomGallery(rand.New(rand.NewPCG(1, 1)), Hash{}, a.Length, 64))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := a.WriteGatheredCompact(io.Discard, view)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 1<<18 {
		t.Errorf("%d bytes of memory for an answer of %d: %v", n, a.Length*a.Dimension, err)
	}
}

// A frame that was cut or whose sizes do not fit together is refused; one whose rows were
// changed is not looked at so closely.
func TestViewGalleryRefuses(t *testing.T) {
	frame, err := testGallery().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for n := range frame {
		if _, err := ViewRows(frame[:n]); !errors.Is(err, ErrMessage) {
			t.Fatalf("%d of %d bytes: error %v", n, len(frame), err)
		}
	}
	seal := func(fields ...any) []byte {
		g := testGallery()
		return seal(t, g.format(), plain(append([]any{g.Codebook[:], uint64(g.Dimension)}, fields...)...))
	}
	anchors, codes := []uint16{1, 0, 7}, []int8{1, 2, 3, 4, 5, 6}
	if !bytes.Equal(seal(uint64(3), anchors, uint64(3), []uint16{2, 65535, 0}, uint64(6), []int8{1, 2, -127, 127, 0, -1}), frame) {
		t.Fatal("the plain form of a gallery has other bytes")
	}
	for name, frame := range map[string][]byte{
		"no rows":     seal(uint64(0), uint64(0), uint64(0)),
		"few steps":   seal(uint64(3), anchors, uint64(2), anchors[:2], uint64(6), codes),
		"few codes":   seal(uint64(3), anchors, uint64(3), anchors, uint64(5), codes[:5]),
		"many codes":  seal(uint64(2), anchors[:2], uint64(2), anchors[:2], uint64(6), codes),
		"more behind": seal(uint64(3), anchors, uint64(3), anchors, uint64(6), codes, uint16(0)),
		"huge count":  seal(uint64(1)<<63, anchors, uint64(3), anchors, uint64(6), codes),
	} {
		if _, err := ViewRows(frame); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: a view of it: %v", name, err)
		}
		if err := new(AllRows).UnmarshalBinary(frame); !errors.Is(err, ErrMessage) {
			t.Errorf("%s is read: %v", name, err)
		}
	}
}

// FuzzViewGallery takes any body for that of a gallery: what is read whole has a view of
// the same rows, and a view of anything else does not panic.
func FuzzViewGallery(f *testing.F) {
	frame, err := testGallery().MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bodyOf(testGallery(), frame))
	f.Fuzz(func(t *testing.T, body []byte) {
		frame := seal(t, allRowsFormat, body)
		var g AllRows
		readErr := g.UnmarshalBinary(frame)
		view, err := ViewRows(frame)
		if err != nil {
			if readErr == nil {
				t.Fatalf("it is read, and has no view: %v", err)
			}
			return
		}
		ids := make([]uint32, view.Rows())
		for i := range ids {
			ids[i] = uint32(i)
		}
		var rows Compact
		if err := view.Gather(&rows, ids); (err == nil) != (readErr == nil) || err == nil && !reflect.DeepEqual(rows, g.Rows) {
			t.Fatalf("read with %v, gathered with %v", readErr, err)
		}
	})
}
