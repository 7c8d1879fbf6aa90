package digits

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
	"slices"
	"testing"
)

func TestLoad(t *testing.T) {
	x, labels := Load()
	if x.Rows != 1797 || x.Cols != 64 || x.Stride != 64 || len(x.Data) != 1797*64 || len(labels) != 1797 {
		t.Fatalf("%d x %d, stride %d, %d entries, %d labels", x.Rows, x.Cols, x.Stride, len(x.Data), len(labels))
	}

	var sum float64
	for _, v := range x.Data {
		sum += float64(v)
	}
	if sum != 561718 {
		t.Errorf("pixels sum to %v, want 561718", sum)
	}
	zero := []float32{
		0, 0, 5, 13, 9, 1, 0, 0,
		0, 0, 13, 15, 10, 15, 5, 0,
		0, 3, 15, 2, 0, 11, 8, 0,
		0, 4, 12, 0, 0, 8, 8, 0,
		0, 5, 8, 0, 0, 9, 8, 0,
		0, 4, 11, 0, 1, 12, 7, 0,
		0, 2, 14, 5, 10, 12, 0, 0,
		0, 0, 6, 13, 10, 0, 0, 0,
	}
	if !slices.Equal(x.Data[:64], zero) || labels[0] != 0 {
		t.Errorf("first row %v, label %d", x.Data[:64], labels[0])
	}

	count := make([]int, Classes)
	for _, c := range labels {
		count[c]++
	}
	if want := []int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; !slices.Equal(count, want) {
		t.Errorf("rows a class %v, want %v", count, want)
	}
}

// The sums are those of the arrays after the headers of the source files features.npy
// and labels.npy: packing lost nothing.
func TestLoadEqualsSource(t *testing.T) {
	x, labels := Load()
	for _, c := range []struct {
		name string
		data any
		want string
	}{
		{"features", x.Data, "a627aed550b0b29bf76a981bc1ecbab5ef775aac454c94154f20ec9f61a04c83"},
		{"labels", labels, "3a0e68456f9a3c609b399717dd9ca55bb9153be1bccf72e38e3319cb740c75cd"},
	} {
		h := sha256.New()
		if err := binary.Write(h, binary.LittleEndian, c.data); err != nil {
			t.Fatal(err)
		}
		if got := hex.EncodeToString(h.Sum(nil)); got != c.want {
			t.Errorf("%s: sha256 %s, want %s", c.name, got, c.want)
		}
	}
}

func TestLoadReturnsACopy(t *testing.T) {
	x, labels := Load()
	x.Data[2], labels[0] = -1, -1
	if y, again := Load(); y.Data[2] != 5 || again[0] != 0 {
		t.Error("a caller's change shows in the next Load")
	}
}

func TestUnpackRefuses(t *testing.T) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	pack := func(change func([]byte) []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(change(slices.Clone(raw))); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	flipped := slices.Clone(packed)
	flipped[len(flipped)/2] ^= 1
	for name, p := range map[string][]byte{
		"nothing":        nil,
		"truncated":      packed[:len(packed)-1],
		"bit flipped":    flipped,
		"one byte fewer": pack(func(b []byte) []byte { return b[:len(b)-1] }),
		"one byte more":  pack(func(b []byte) []byte { return append(b, 0) }),
		"bright pixel":   pack(func(b []byte) []byte { b[5] = 17; return b }),
		"eleventh":       pack(func(b []byte) []byte { b[len(b)-1] = 10; return b }),
	} {
		if _, _, err := unpack(p); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, _, err := unpack(pack(func(b []byte) []byte { return b })); err != nil {
		t.Errorf("repacked: %v", err)
	}
}
