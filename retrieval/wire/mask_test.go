package wire

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// maskAnswer masks the body of an answer where its binary form does, or takes the mask
// off.
func maskAnswer(body []byte) {
	d := &decoder{left: body}
	d.fixed("codebook", make([]byte, sha256.Size))
	decodeSlice[uint32](d, "cells")
	d.uint64("length")
	d.uint64("dimension")
	mask(body, len(body)-len(d.left))
}

// mask masks body[from:] in place.
func mask(body []byte, from int) { newMask(body[:from]).XORKeyStream(body[from:], body[from:]) }

// Every byte is covered, by another stream after other bytes, and uncovered again.
func TestMask(t *testing.T) {
	for _, n := range []int{0, 1, 4095, 4096, 4097, 10000} {
		body := append([]byte{1, 2, 3}, make([]byte, n)...)
		plain := bytes.Clone(body)
		mask(body, 3)
		if !bytes.Equal(body[:3], plain[:3]) {
			t.Errorf("%d bytes: the mask begins too early", n)
		}
		if zeros := bytes.Count(body[3:], []byte{0}); zeros > n/100+5 {
			t.Errorf("%d of %d bytes are still zero", zeros, n)
		}
		other := bytes.Clone(plain)
		other[2]++
		if mask(other, 3); n > 4 && bytes.Equal(other[3:], body[3:]) {
			t.Errorf("%d bytes: one mask for all messages", n)
		}
		if mask(body, 3); !bytes.Equal(body, plain) {
			t.Errorf("%d bytes do not come back", n)
		}
	}
}

// Messages with compact rows have the same bytes in every build: here is the hash of all.
func TestCompactBytes(t *testing.T) {
	hash := sha256.New()
	for _, m := range []message{testCodebook(), testCompactBase(), testCompactAnswer(), testGallery()} {
		if _, err := m.WriteTo(hash); err != nil {
			t.Fatal(err)
		}
	}
	const want = "cfd40b1dd0736815e186783a74fdc7656571c1cb6e5839654c20e52f9e37fa77"
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
}

// The bytes of an answer are the same in every build: here is their hash.
func TestAnswerBytes(t *testing.T) {
	frame, err := testAnswer().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(frame)
	const want = "446dc721e8d35bbd52adae2817e1ae47401733a2158f47e694d493882d579945"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	// Reading an answer does not change the bytes it was read from.
	if err := new(CellsAnswer).UnmarshalBinary(frame); err != nil || sha256.Sum256(frame) != sum {
		t.Errorf("the frame was changed: %v", err)
	}
	// Answers of earlier versions are refused as such.
	for version := range uint16(answerVersion) {
		old := seal(t, format{kindCellsAnswer, version, newSHA256}, frame[headSize:len(frame)-crcPairSize])
		if err := new(CellsAnswer).UnmarshalBinary(old); !errors.Is(err, ErrVersion) {
			t.Errorf("version %d: error %v", version, err)
		}
	}
}

// plain returns fields one behind the other.
func plain(fields ...any) (out []byte) {
	for _, field := range fields {
		out, _ = binary.Append(out, binary.LittleEndian, field)
	}
	return out
}

// plainAnswer is the binary form of an answer in a few lines.
func plainAnswer(a *CellsAnswer) []byte {
	body := plain(a.Codebook[:], uint64(len(a.Cells)), a.Cells, uint64(a.Length), uint64(a.Dimension))
	asked := len(body)
	head, rows := []uint16{19, 3}, plain(uint64(len(a.Rows)), a.Rows)
	if a.Encoding == Int8 {
		c := &a.Compact
		head, rows = []uint16{21, 1}, plain(uint64(len(c.Anchors)), c.Anchors, uint64(len(c.Steps)), c.Steps, uint64(len(c.Codes)), c.Codes)
	}
	body = append(body, plain(uint64(len(a.IDs)), a.IDs, rows)...)
	mask(body, asked)
	frame := plain([]byte("PMW1"), head, uint64(len(body)), body)
	return plain(frame, crc32.ChecksumIEEE(frame), crc32.Checksum(frame, crc32.MakeTable(crc32.Castagnoli)))
}

// All ways to write an answer give the bytes of the plain one, and of the length that
// the codebook tells, whether lists end with a piece of the encoder or not.
func TestAnswerIsPlain(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, length := range []int{1, 2, pieceSize / 8, pieceSize/8 - 7, pieceSize/4 + 1, pieceSize} {
		for _, cells := range [][]uint32{{5}, {2, 9}} {
			a := &CellsAnswer{Codebook: Hash{7}, Cells: cells, Length: length, Dimension: 1}
			for range cells {
				for i := range length {
					a.IDs = append(a.IDs, uint32(3*i+random.IntN(3)))
					a.Rows = append(a.Rows, random.Float32())
				}
			}
			book := &Codebook{Rows: limits.MaxRows, Size: len(cells), Length: length, Dimension: 1, Ranking: 1, Centres: make([]float32, 10), Anchors: []float32{0}}
			for _, a := range []*CellsAnswer{a, compactOf(a, random)} {
				want := plainAnswer(a)
				if n := book.AnswerBytes(a.Encoding); n != int64(len(want)) {
					t.Errorf("%s: %d bytes, the codebook says %d", a.Encoding, len(want), n)
				}
				checkEncodings(t, a, want)
				var back CellsAnswer
				if err := back.UnmarshalBinary(want); err != nil || !reflect.DeepEqual(&back, a) {
					t.Errorf("%s: %d lists of %d do not come back: %v", a.Encoding, len(cells), length, err)
				}
			}
		}
	}
}

// compactOf returns the answer with random rows of int8.
func compactOf(a *CellsAnswer, random *rand.Rand) *CellsAnswer {
	out := *a
	out.Encoding, out.Rows, out.Compact = Int8, nil, Compact{}
	for range a.IDs {
		out.Compact.Anchors = append(out.Compact.Anchors, uint16(random.Uint32()))
		out.Compact.Steps = append(out.Compact.Steps, uint16(random.Uint32()))
		for range a.Dimension {
			out.Compact.Codes = append(out.Compact.Codes, int8(random.IntN(255)-127))
		}
	}
	return &out
}

// Compressed, an answer is as long as any other: one row in the list or many, rows
// that say nothing or all the same.
func TestAnswersDoNotCompress(t *testing.T) {
	const length, dimension = 500, 8
	random := rand.New(rand.NewPCG(1, 2))
	sizes := [2]map[string]int{{}, {}} // by encoding
	var whole [2]int
	for _, test := range []struct {
		name  string
		count int
		entry func() float32
	}{
		{"one row", 1, random.Float32},
		{"half", length / 2, random.Float32},
		{"full", length, random.Float32},
		{"full, zeros", length, func() float32 { return 0 }},
		{"full, coarse", length, func() float32 { return float32(random.IntN(3)) }},
	} {
		a := &CellsAnswer{Codebook: Hash{1, 2}, Cells: []uint32{7}, Length: length, Dimension: dimension, Rows: make([]float32, length*dimension)}
		for i := range length {
			if i >= test.count {
				a.IDs = append(a.IDs, Padding)
				continue
			}
			a.IDs = append(a.IDs, uint32(8*i+random.IntN(8)))
			for j := range dimension {
				a.Rows[i*dimension+j] = test.entry()
			}
		}
		frame, err := a.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		whole[Float32] = len(frame)
		sizes[Float32][test.name] = deflated(t, frame)
		// The same list of int8: an anchor, a step and codes that follow from the entries.
		a.Encoding, a.Compact = Int8, Compact{Anchors: make([]uint16, length), Steps: make([]uint16, length), Codes: make([]int8, length*dimension)}
		for i := range a.Rows {
			a.Compact.Anchors[i/dimension] += uint16(a.Rows[i] * 10)
			a.Compact.Steps[i/dimension] += uint16(a.Rows[i] * 5000)
			a.Compact.Codes[i] = int8(a.Rows[i] * 63)
		}
		a.Rows = nil
		if frame, err = a.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
		whole[Int8] = len(frame)
		sizes[Int8][test.name] = deflated(t, frame)
	}
	for encoding, sizes := range sizes {
		for name, size := range sizes {
			if size < whole[encoding]-100 || size < sizes["full"]-8 || size > sizes["full"]+8 {
				t.Errorf("%s, %s: %d bytes of %d, and a full list has %d", Encoding(encoding), name, size, whole[encoding], sizes["full"])
			}
		}
	}
}

func deflated(t *testing.T, frame []byte) int {
	t.Helper()
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
	return out.Len()
}
