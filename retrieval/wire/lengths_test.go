package wire

import "testing"

// The lengths that a codebook tells are those of the frames.
func TestLengthsOfFrames(t *testing.T) {
	length := func(m message) int64 {
		t.Helper()
		frame, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return int64(len(frame))
	}
	for _, d := range []int{1, 2, 3, 64} {
		for _, n := range []int{1, 3, 50} {
			book := &Codebook{Rows: n, Size: 1, Length: 1, Dimension: 1, Ranking: d, Centres: []float32{0, 1}, Anchors: make([]float32, 2*d)}
			gallery := &AllRows{Dimension: d, Rows: Compact{Anchors: make([]uint16, n), Steps: make([]uint16, n), Codes: make([]int8, n*d)}}
			if got, want := book.AllRowsBytes(), length(gallery); got != want {
				t.Errorf("%d x %d: a gallery of %d bytes, the codebook says %d", n, d, want, got)
			}
			base := &Base{Dimension: d, IDs: make([]uint32, n), Rows: make([]float32, n*d)}
			for i := range base.IDs {
				base.IDs[i] = uint32(i)
			}
			if got, want := book.BaseBytes(Float32, n), length(base); got != want {
				t.Errorf("%d x %d: a base of %d bytes, the codebook says %d", n, d, want, got)
			}
			base.Encoding, base.Rows, base.Compact = Int8, nil, gallery.Rows
			if got, want := book.BaseBytes(Int8, n), length(base); got != want {
				t.Errorf("%d x %d: a base of int8 of %d bytes, the codebook says %d", n, d, want, got)
			}
			if got := book.BaseBytes(Int8, n+1) + book.BaseBytes(Int8, -1) + book.BaseBytes(2, n) + book.AnswerBytes(2); got != 0 {
				t.Errorf("%d x %d: %d bytes of invalid sizes", n, d, got)
			}
		}
	}
	none := new(Codebook)
	if got := none.AnswerBytes(Float32) + none.BaseBytes(Float32, 0) + none.AllRowsBytes(); got != 0 {
		t.Errorf("%d bytes for no codebook", got)
	}
}

func TestEncodings(t *testing.T) {
	for encoding, name := range map[Encoding]string{Float32: "float32", Int8: "int8"} {
		if got, err := ParseEncoding(name); got != encoding || err != nil || encoding.String() != name || encoding.Check() != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "INT8", "float64", "int8 "} {
		if _, err := ParseEncoding(name); err == nil {
			t.Errorf("%q is an encoding", name)
		}
	}
	if unknown := Encoding(7); unknown.Check() == nil || unknown.String() != "encoding 7" {
		t.Errorf("%s is an encoding", unknown)
	}
}

// One number of 8 bits is no code, wherever it stands.
func TestAllCodes(t *testing.T) {
	for n := range 40 {
		codes := make([]int8, n)
		for i := range codes {
			codes[i] = []int8{0, -127, 127, 1, -1, 126}[i%6]
		}
		if !allCodes(codes) {
			t.Errorf("%d codes are refused", n)
		}
		for i := range codes {
			for v := -128; v < 128; v++ {
				kept := codes[i]
				codes[i] = int8(v)
				if allCodes(codes) != (v != -128) {
					t.Errorf("%d at %d of %d", v, i, n)
				}
				codes[i] = kept
			}
		}
	}
}
