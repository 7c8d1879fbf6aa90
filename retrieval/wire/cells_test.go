package wire

import (
	"bytes"
	"encoding"
	"errors"
	"io"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// message is what all types of this package have.
type message interface {
	body
	encoding.BinaryMarshaler
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
	io.WriterTo
}

func testCodebook() *Codebook {
	return &Codebook{Version: 3, Rows: 10, Size: 1, Length: 4, Dimension: 2, Ranking: 3, Centres: []float32{0, 1, 2, 3, 4, 5},
		Scale: 0.5, Anchors: []float32{1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6}}
}

func testBase() *Base {
	return &Base{Codebook: Hash{1}, Dimension: 2, IDs: []uint32{2, 9}, Rows: []float32{1, 2, 3, 4}}
}

func testCompactBase() *Base {
	return &Base{Codebook: Hash{1}, Dimension: 2, IDs: []uint32{2, 9}, Encoding: Int8,
		Compact: Compact{Anchors: []uint16{3, 65535}, Steps: []uint16{65535, 0}, Codes: []int8{127, -127, 0, 1}}}
}

func testCompactAnswer() *CellsAnswer {
	return &CellsAnswer{
		Codebook: Hash{1}, Cells: []uint32{0, 7}, Length: 3, Dimension: 1,
		IDs:      []uint32{4, 5, Padding, 0, Padding, Padding},
		Encoding: Int8,
		Compact: Compact{
			Anchors: []uint16{1, 0, 0, 2, 0, 0}, Steps: []uint16{300, 65535, 0, 1, 0, 0}, Codes: []int8{1, -127, 0, 127, 0, 0},
		},
	}
}

func testGallery() *AllRows {
	return &AllRows{Codebook: Hash{1}, Dimension: 2,
		Rows: Compact{Anchors: []uint16{1, 0, 7}, Steps: []uint16{2, 65535, 0}, Codes: []int8{1, 2, -127, 127, 0, -1}}}
}

func testRequest() *CellsRequest { return &CellsRequest{Codebook: Hash{1}, Cells: []uint32{0, 7}} }

func testAnswer() *CellsAnswer {
	return &CellsAnswer{
		Codebook: Hash{1}, Cells: []uint32{0, 7}, Length: 3, Dimension: 1,
		IDs:  []uint32{4, 5, Padding, 0, Padding, Padding},
		Rows: []float32{1, 2, 0, 3, 0, 0},
	}
}

// cellsMessages returns valid messages, each with an empty one of its type.
func cellsMessages() map[string][2]message {
	return map[string][2]message{
		"codebook":       {testCodebook(), new(Codebook)},
		"base":           {testBase(), new(Base)},
		"request":        {testRequest(), new(CellsRequest)},
		"answer":         {testAnswer(), new(CellsAnswer)},
		"compact base":   {testCompactBase(), new(Base)},
		"compact answer": {testCompactAnswer(), new(CellsAnswer)},
		"gallery":        {testGallery(), new(AllRows)},
	}
}

func TestCellsMessagesComeBack(t *testing.T) { checkComeBack(t, cellsMessages()) }

// checkComeBack demands that messages are read as they were written, whole or not at all.
func checkComeBack(t *testing.T, messages map[string][2]message) {
	t.Helper()
	for name, m := range messages {
		frame, err := m[0].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		checkEncodings(t, m[0], frame)
		if err := m[1].UnmarshalBinary(frame); err != nil || !reflect.DeepEqual(m[0], m[1]) {
			t.Errorf("%s: %+v became %+v: %v", name, m[0], m[1], err)
		}
		// Cut anywhere, it is refused and leaves the message as it was.
		for n := range frame {
			if err := m[1].UnmarshalBinary(frame[:n]); !errors.Is(err, ErrMessage) {
				t.Fatalf("%s: %d of %d bytes: error %v", name, n, len(frame), err)
			}
		}
		// So is a body with one byte more or less, rightly sealed.
		body := bodyOf(m[0], frame)
		for _, wrong := range [][]byte{append(bytes.Clone(body), 0), body[:len(body)-1]} {
			if err := m[1].UnmarshalBinary(seal(t, m[0].format(), wrong)); !errors.Is(err, ErrMessage) {
				t.Errorf("%s: another length: error %v", name, err)
			}
		}
		if !reflect.DeepEqual(m[0], m[1]) {
			t.Errorf("%s: an error changed the message", name)
		}
	}
}

// bodyOf returns the body in the frame of a message.
func bodyOf(m message, frame []byte) []byte {
	return frame[headSize : len(frame)-m.format().checksum().Size()]
}

// checkEncodings compares all ways to write a message with its frame.
func checkEncodings(t *testing.T, m message, frame []byte) {
	t.Helper()
	if got, err := m.MarshalBinary(); err != nil || !bytes.Equal(got, frame) {
		t.Errorf("%T: MarshalBinary gives other bytes: %v", m, err)
	}
	if got, err := m.AppendBinary([]byte("before")); err != nil || !bytes.Equal(got, append([]byte("before"), frame...)) {
		t.Errorf("%T: AppendBinary gives other bytes: %v", m, err)
	}
	room := make([]byte, 0, len(frame))
	if got, err := m.AppendBinary(room); err != nil || !bytes.Equal(got, frame) || &got[0] != &room[:1][0] {
		t.Errorf("%T: AppendBinary does not use the room there is: %v", m, err)
	}
	var out bytes.Buffer
	if n, err := m.WriteTo(&out); err != nil || n != int64(len(frame)) || !bytes.Equal(out.Bytes(), frame) {
		t.Errorf("%T: WriteTo gives other bytes, %d: %v", m, n, err)
	}
}

// A limited writer fails when it has taken that many bytes.
type limited struct{ left int }

var errFull = errors.New("full")

func (w *limited) Write(p []byte) (int, error) {
	if len(p) > w.left {
		n := w.left
		w.left = 0
		return n, errFull
	}
	w.left -= len(p)
	return len(p), nil
}

type shortWriter struct{}

func (shortWriter) Write(p []byte) (int, error) { return len(p) / 2, nil }

// WriteTo returns the error of its writer and how much was written before it, and writes
// nothing of a message that is not valid.
func TestWriteToFails(t *testing.T) {
	long := testAnswer()
	long.Length = pieceSize
	long.IDs, long.Rows = slices.Repeat([]uint32{Padding}, 2*pieceSize), make([]float32, 2*pieceSize)
	frame, err := long.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(frame); n += 1 + len(frame)/97 {
		if got, err := long.WriteTo(&limited{n}); got != int64(n) || !errors.Is(err, errFull) {
			t.Errorf("%d of %d bytes: %d, %v", n, len(frame), got, err)
		}
	}
	if got, err := testBase().WriteTo(shortWriter{}); got == 0 || !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("a writer that takes half: %d, %v", got, err)
	}
	long.Rows[0] = float32(math.Inf(1))
	var out bytes.Buffer
	if n, err := long.WriteTo(&out); n != 0 || out.Len() != 0 || !errors.Is(err, ErrMessage) {
		t.Errorf("%d bytes of an invalid message: %v", n, err)
	}
	if b, err := long.AppendBinary([]byte("before")); string(b) != "before" || !errors.Is(err, ErrMessage) {
		t.Errorf("%q of an invalid message: %v", b, err)
	}
}

// A long answer is written in pieces, without a copy of it.
func TestWriteToMemory(t *testing.T) {
	long := &CellsAnswer{Cells: []uint32{1}, Length: 1 << 16, Dimension: 8}
	long.IDs, long.Rows = slices.Repeat([]uint32{Padding}, 1<<16), make([]float32, 8<<16)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := long.WriteTo(io.Discard)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || n > 1<<18 {
		t.Errorf("%d bytes of memory for an answer of %d: %v", n, 4*len(long.Rows), err)
	}
}

func TestCellsMessagesRefuse(t *testing.T) {
	nan := float32(math.NaN())
	change := func(f func(*Codebook)) message { c := testCodebook(); f(c); return c }
	base := func(f func(*Base)) message { b := testBase(); f(b); return b }
	request := func(cells ...uint32) message { return &CellsRequest{Cells: cells} }
	answer := func(f func(*CellsAnswer)) message { a := testAnswer(); f(a); return a }
	compact := func(f func(*CellsAnswer)) message { a := testCompactAnswer(); f(a); return a }
	sample := func(f func(*Base)) message { b := testCompactBase(); f(b); return b }
	gallery := func(f func(*AllRows)) message { g := testGallery(); f(g); return g }
	for name, m := range map[string]message{
		"no rows":              change(func(c *Codebook) { c.Rows = 0 }),
		"negative dimension":   change(func(c *Codebook) { c.Dimension = -2 }),
		"no dimension":         change(func(c *Codebook) { c.Dimension = 0 }),
		"huge dimension":       change(func(c *Codebook) { c.Dimension = limits.MaxDimension + 1 }),
		"no ranking":           change(func(c *Codebook) { c.Ranking = 0 }),
		"one centre":           change(func(c *Codebook) { c.Centres = c.Centres[:2] }),
		"half a centre":        change(func(c *Codebook) { c.Centres = c.Centres[:5] }),
		"centre not finite":    change(func(c *Codebook) { c.Centres[3] = nan }),
		"size zero":            change(func(c *Codebook) { c.Size = 0 }),
		"size of all":          change(func(c *Codebook) { c.Size = 3 }),
		"no length":            change(func(c *Codebook) { c.Length = 0 }),
		"length above rows":    change(func(c *Codebook) { c.Length = 11 }),
		"answer too long":      change(func(c *Codebook) { c.Rows, c.Length, c.Ranking = limits.MaxRows, 1<<14, 1<<15 }),
		"answer overflows":     change(func(c *Codebook) { c.Rows, c.Length, c.Ranking = limits.MaxRows, limits.MaxRows, limits.MaxDimension }),
		"base beyond":          base(func(b *Base) { b.IDs[1] = limits.MaxRows }),
		"answer beyond":        answer(func(a *CellsAnswer) { a.IDs[1] = limits.MaxRows }),
		"base ids twice":       base(func(b *Base) { b.IDs[0] = 9 }),
		"base rows missing":    base(func(b *Base) { b.Rows = b.Rows[:3] }),
		"base not finite":      base(func(b *Base) { b.Rows[0] = nan }),
		"base dimension":       base(func(b *Base) { b.Dimension = 0 }),
		"no cells":             request(),
		"falling cells":        request(3, 2),
		"a cell twice":         request(2, 2),
		"a cell beyond":        request(limits.MaxCells),
		"answer without cells": answer(func(a *CellsAnswer) { a.Cells = nil }),
		"answer length":        answer(func(a *CellsAnswer) { a.Length = 2 }),
		"answer huge length":   answer(func(a *CellsAnswer) { a.Length = math.MaxInt }),
		"answer list falls":    answer(func(a *CellsAnswer) { a.IDs[0] = 6 }),
		"answer hole":          answer(func(a *CellsAnswer) { a.IDs[0] = Padding }),
		"answer rows":          answer(func(a *CellsAnswer) { a.Rows = a.Rows[:5] }),
		"answer not finite":    answer(func(a *CellsAnswer) { a.Rows[0] = nan }),
		"padding not finite":   answer(func(a *CellsAnswer) { a.Rows[5] = nan }),

		"scale not finite":   change(func(c *Codebook) { c.Scale = float32(math.Inf(1)) }),
		"scale is no number": change(func(c *Codebook) { c.Scale = nan }),
		"negative scale":     change(func(c *Codebook) { c.Scale = -1 }),
		"no anchors":         change(func(c *Codebook) { c.Anchors = nil }),
		"half an anchor":     change(func(c *Codebook) { c.Anchors = c.Anchors[:4] }),
		"too many anchors":   change(func(c *Codebook) { c.Anchors = make([]float32, 3*(limits.MaxAnchors+1)) }),
		"anchor not finite":  change(func(c *Codebook) { c.Anchors[4] = nan }),
		"compact too long": change(func(c *Codebook) {
			c.Rows, c.Length, c.Ranking, c.Anchors = limits.MaxRows, 1<<28-1<<24, 1, []float32{1}
		}),
		"unknown encoding":         answer(func(a *CellsAnswer) { a.Encoding = 2 }),
		"base of unknown encoding": base(func(b *Base) { b.Encoding = 2 }),
		"answer with codes":        answer(func(a *CellsAnswer) { a.Compact = testCompactAnswer().Compact }),
		"compact with rows":        compact(func(a *CellsAnswer) { a.Rows = testAnswer().Rows }),
		"compact anchors":          compact(func(a *CellsAnswer) { a.Compact.Anchors = a.Compact.Anchors[:5] }),
		"compact steps":            compact(func(a *CellsAnswer) { a.Compact.Steps = append(a.Compact.Steps, 1) }),
		"compact codes":            compact(func(a *CellsAnswer) { a.Compact.Codes = a.Compact.Codes[:5] }),
		"compact no code":          compact(func(a *CellsAnswer) { a.Compact.Codes[3] = -128 }),
		"compact dimension":        compact(func(a *CellsAnswer) { a.Dimension = 0 }),
		"compact ids":              compact(func(a *CellsAnswer) { a.IDs[1] = a.IDs[0] }),
		"sample with rows":         sample(func(b *Base) { b.Rows = testBase().Rows }),
		"sample no code":           sample(func(b *Base) { b.Compact.Codes[0] = -128 }),
		"sample steps":             sample(func(b *Base) { b.Compact.Steps = nil }),
		"empty gallery":            gallery(func(g *AllRows) { g.Rows = Compact{} }),
		"gallery without codes":    gallery(func(g *AllRows) { g.Rows.Codes = nil }),
		"gallery no dimension":     gallery(func(g *AllRows) { g.Dimension = 0 }),
		"gallery huge dimension":   gallery(func(g *AllRows) { g.Dimension = math.MaxInt }),
		"gallery no code":          gallery(func(g *AllRows) { g.Rows.Codes[5] = -128 }),
	} {
		if _, err := m.MarshalBinary(); !errors.Is(err, ErrMessage) || m.Check() == nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The hash is that of the content: every field changes it, and it survives the
// line.
func TestCodebookHash(t *testing.T) {
	hash := func(c *Codebook) Hash {
		t.Helper()
		h, err := c.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	want := hash(testCodebook())
	for name, f := range map[string]func(*Codebook){
		"version":   func(c *Codebook) { c.Version++ },
		"rows":      func(c *Codebook) { c.Rows++ },
		"size":      func(c *Codebook) { c.Size++ },
		"length":    func(c *Codebook) { c.Length++ },
		"dimension": func(c *Codebook) { c.Dimension = 3; c.Centres = c.Centres[:6] },
		"ranking":   func(c *Codebook) { c.Ranking++ },
		"centres":   func(c *Codebook) { c.Centres[5] = 6 },
		"scale":     func(c *Codebook) { c.Scale = 0.25 },
		"anchors":   func(c *Codebook) { c.Anchors[11] = 7 },
	} {
		c := testCodebook()
		if f(c); name == "dimension" {
			c.Size = 1
		}
		if hash(c) == want {
			t.Errorf("%s does not change the hash", name)
		}
	}
	frame, err := testCodebook().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var there Codebook
	if err := there.UnmarshalBinary(frame); err != nil || hash(&there) != want {
		t.Errorf("another hash at the other end: %v", err)
	}
	if _, err := new(Codebook).Hash(); !errors.Is(err, ErrMessage) {
		t.Errorf("nothing has a hash: %v", err)
	}
}

// isAnswer reports whether the body of a message has a mask.
func isAnswer(m message) bool { _, ok := m.(*CellsAnswer); return ok }

// FuzzCells reads any body as each of the messages: no panic, no memory beyond
// what the bytes account for, and what is accepted is written back as it was.
func FuzzCells(f *testing.F) {
	for _, m := range cellsMessages() {
		frame, err := m[0].MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		body := bytes.Clone(bodyOf(m[0], frame))
		if isAnswer(m[0]) {
			maskAnswer(body)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, m := range cellsMessages() {
			body := bytes.Clone(body)
			if isAnswer(m[0]) {
				maskAnswer(body)
			}
			frame := seal(t, m[0].format(), body)
			if m[1].UnmarshalBinary(frame) != nil {
				continue
			}
			again, err := m[1].MarshalBinary()
			if err != nil || !bytes.Equal(again, frame) {
				t.Errorf("%s: %x became %x: %v", name, frame, again, err)
			}
		}
	})
}
