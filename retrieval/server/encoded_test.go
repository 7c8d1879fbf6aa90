package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"reflect"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// What WriteAnswer writes is the binary form of what Answer returns, encoded beforehand
// or not, by many at a time.
func TestWriteAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		settings CellsSettings
		cells    [][]uint32
		encoded  bool
	}{
		"encoded":   {CellsSettings{Epsilon: 4}, [][]uint32{{0}, {3}, {11}}, true},
		"not":       {CellsSettings{Epsilon: 4, Encoded: -1}, [][]uint32{{0}, {3}, {11}}, false},
		"no room":   {CellsSettings{Epsilon: 4, Encoded: 12_000}, [][]uint32{{5}, {6}}, false},
		"two":       {CellsSettings{Epsilon: 4, Size: 2}, [][]uint32{{0, 1}, {1, 2}, {0, 11}}, false},
		"partition": {CellsSettings{Partition: true}, [][]uint32{{0}, {1}, {7}}, true},
	} {
		server := newCells(t, c.settings)
		book := server.Codebook()
		want := int64(0)
		if c.encoded {
			want = int64(book.Cells()) * (book.AnswerBytes(wire.Float32) + book.AnswerBytes(wire.Int8))
		}
		if got := server.Encoded(); got != want {
			t.Errorf("%s: %d bytes of encoded answers, want %d", name, got, want)
		}
		var all sync.WaitGroup
		for range 4 {
			for _, cells := range c.cells {
				all.Go(func() { checkAnswer(t, name, server, cells, wire.Float32) })
				all.Go(func() { checkAnswer(t, name, server, cells, wire.Int8) })
			}
		}
		all.Wait()
	}
}

func checkAnswer(t *testing.T, name string, server *Cells, cells []uint32, encoding wire.Encoding) {
	request := &wire.CellsRequest{Codebook: server.hash, Cells: cells}
	answer, err := server.Answer(request, encoding)
	if err != nil {
		t.Error(name, err)
		return
	}
	want, err := answer.MarshalBinary()
	var got bytes.Buffer
	n, writeErr := server.WriteAnswer(&got, request, encoding)
	if err != nil || writeErr != nil || n != int64(got.Len()) || n != server.Codebook().AnswerBytes(encoding) || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s: cells %v: %d bytes, not those of the answer: %v, %v", name, cells, n, err, writeErr)
	}
	var back wire.CellsAnswer
	if err := back.UnmarshalBinary(got.Bytes()); err != nil || back.Encoding != encoding || !reflect.DeepEqual(&back, answer) {
		t.Errorf("%s: cells %v do not come back: %v", name, cells, err)
	}
}

// All answers are encoded or none.
func TestEncodedAllOrNone(t *testing.T) {
	book := newCells(t, CellsSettings{Epsilon: 4}).Codebook()
	each := book.AnswerBytes(wire.Float32) + book.AnswerBytes(wire.Int8)
	for memory, want := range map[int64]int64{12 * each: 12 * each, 12*each - 1: 0, 12 * book.AnswerBytes(wire.Float32): 0, 1: 0} {
		if got := newCells(t, CellsSettings{Epsilon: 4, Encoded: memory}).Encoded(); got != want {
			t.Errorf("%d bytes in %d, want %d", got, memory, want)
		}
	}
}

func TestEncodedSameBits(t *testing.T) {
	want := newCells(t, CellsSettings{Epsilon: 4}).encoded
	for _, count := range []int{1, 3} {
		workers := par.New(count)
		got := newCells(t, CellsSettings{Epsilon: 4, Workers: workers}).encoded
		workers.Close()
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers encode other answers", count)
		}
	}
}

var errBroken = errors.New("broken line")

type brokenLine struct{}

func (brokenLine) Write(p []byte) (int, error) { return 3, errBroken }

type shortLine struct{}

func (shortLine) Write(p []byte) (int, error) { return 3, nil }

// A lyingLine says that it took some other number of bytes than it was given.
type lyingLine struct{ off int }

func (l lyingLine) Write(p []byte) (int, error) { return len(p) + l.off, nil }

// Nothing is written for a request that is refused, and the errors of a writer come
// back.
func TestWriteAnswerRefuses(t *testing.T) {
	for i, settings := range []CellsSettings{{Epsilon: 4}, {Epsilon: 4, Encoded: -1}, {Epsilon: 4}, {Epsilon: 4, Encoded: -1}} {
		server, encoding := newCells(t, settings), wire.Encoding(i/2)
		var out bytes.Buffer
		for want, request := range map[error]*wire.CellsRequest{
			ErrQuestion:      {Codebook: server.hash, Cells: []uint32{99}},
			wire.ErrMessage:  {Codebook: server.hash},
			wire.ErrCodebook: {Cells: []uint32{1}},
		} {
			if n, err := server.WriteAnswer(&out, request, encoding); n != 0 || out.Len() > 0 || !errors.Is(err, want) {
				t.Errorf("%d bytes: %v, want %v", n, err, want)
			}
		}
		request := &wire.CellsRequest{Codebook: server.hash, Cells: []uint32{1}}
		if n, err := server.WriteAnswer(&out, request, 2); n != 0 || out.Len() > 0 || !errors.Is(err, wire.ErrMessage) {
			t.Errorf("an unknown encoding: %d bytes, %v", n, err)
		}
		if n, err := server.WriteAnswer(brokenLine{}, request, encoding); n != 3 || !errors.Is(err, errBroken) {
			t.Errorf("%d bytes: %v", n, err)
		}
		if n, err := server.WriteAnswer(shortLine{}, request, encoding); n != 3 || !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d bytes: %v", n, err)
		}
		for _, off := range []int{1, math.MinInt32} {
			if n, err := server.WriteAnswer(lyingLine{off}, request, encoding); n != 0 || err == nil {
				t.Errorf("a writer that is %d bytes off: %d, %v", off, n, err)
			}
		}
	}
}

// An answer that was encoded beforehand takes no memory.
func TestWriteAnswerMemory(t *testing.T) {
	server := newCells(t, CellsSettings{Epsilon: 4})
	request := &wire.CellsRequest{Codebook: server.hash, Cells: []uint32{1}}
	for _, encoding := range []wire.Encoding{wire.Float32, wire.Int8} {
		if n := testing.AllocsPerRun(10, func() {
			if _, err := server.WriteAnswer(io.Discard, request, encoding); err != nil {
				t.Error(err)
			}
		}); n > 0 {
			t.Errorf("%s: %g allocations", encoding, n)
		}
	}
}

// Whoever stops NewCells while it encodes gets the error of the context.
func TestEncodeStops(t *testing.T) {
	server := newCells(t, CellsSettings{Epsilon: 4, Encoded: -1})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	settings, err := CellsSettings{Epsilon: 4}.withDefaults(testRows)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.encode(ctx, settings.Encoded, settings.Workers); !errors.Is(err, context.Canceled) || server.encoded[0] != nil || server.encoded[1] != nil {
		t.Errorf("error %v", err)
	}
}
