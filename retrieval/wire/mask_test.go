package wire

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"testing"
)

// maskAnswer masks the body of an answer where MarshalBinary does, or takes the mask
// off.
func maskAnswer(body []byte) {
	d := &decoder{left: body}
	d.fixed("codebook", make([]byte, sha256.Size))
	d.uint32s("cells")
	d.uint64("length")
	d.uint64("dimension")
	mask(body, len(body)-len(d.left))
}

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

// The bytes of an answer are the same in every build: here is their hash.
func TestAnswerBytes(t *testing.T) {
	frame, err := testAnswer().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(frame)
	const want = "618cc740bd8d2c04197f2e1a077e31fe090de164633826428e9ecd488811a99e"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("hash %s, want %s", got, want)
	}
	// Reading an answer does not change the bytes it was read from.
	if err := new(CellsAnswer).UnmarshalBinary(frame); err != nil || sha256.Sum256(frame) != sum {
		t.Errorf("the frame was changed: %v", err)
	}
	// An answer without mask is one of another version.
	body := frame[headSize : len(frame)-sha256.Size]
	maskAnswer(body)
	old, err := seal(KindCellsAnswer, 1, body)
	if err != nil {
		t.Fatal(err)
	}
	if err := new(CellsAnswer).UnmarshalBinary(old); !errors.Is(err, ErrVersion) {
		t.Errorf("error %v", err)
	}
}

// Compressed, an answer is as long as any other: one row in the list or many, rows
// that say nothing or all the same.
func TestAnswersDoNotCompress(t *testing.T) {
	const length, dimension = 500, 8
	random := rand.New(rand.NewPCG(1, 2))
	sizes := map[string]int{}
	whole := 0
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
		whole = len(frame)
		sizes[test.name] = deflated(t, frame)
	}
	for name, size := range sizes {
		if size < whole-100 || size < sizes["full"]-8 || size > sizes["full"]+8 {
			t.Errorf("%s: %d bytes of %d, and a full list has %d", name, size, whole, sizes["full"])
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
