package wire

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// The spans of a joined gallery are its binary form, for any shares of the rows.
func TestJoinGallery(t *testing.T) {
	const n, d = 11, 3
	whole := AllRows{Codebook: Hash{1, 2, 3}, Dimension: d}
	for i := range n {
		whole.Rows.Anchors = append(whole.Rows.Anchors, uint16(i))
		whole.Rows.Steps = append(whole.Rows.Steps, uint16(1000+i))
		for j := range d {
			whole.Rows.Codes = append(whole.Rows.Codes, int8(10*i-5*j))
		}
	}
	want, err := whole.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum := [crcPairSize]byte(want[len(want)-crcPairSize:])
	for _, rows := range [][]int{{11}, {1, 10}, {4, 3, 4}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}} {
		var frames [][]byte
		first := 0
		for _, m := range rows {
			part := whole
			part.Rows = Compact{Anchors: whole.Rows.Anchors[first:][:m], Steps: whole.Rows.Steps[first:][:m], Codes: whole.Rows.Codes[first*d:][:m*d]}
			frame, err := part.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			frames = append(frames, frame)
			first += m
		}
		spans, err := JoinRows(whole.Codebook, d, rows, sum)
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for _, s := range spans {
			from := s.Bytes
			if from == nil {
				from = frames[s.Of][s.Offset:]
			}
			got = append(got, from[:s.Length]...)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%v: other bytes than those of the whole", rows)
		}
	}
	for _, bad := range [][]int{nil, {0}, {-1, 5}, {limits.MaxRows, 1}} {
		if _, err := JoinRows(whole.Codebook, d, bad, sum); !errors.Is(err, ErrMessage) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if _, err := JoinRows(whole.Codebook, 0, []int{1}, sum); !errors.Is(err, ErrMessage) {
		t.Errorf("dimension 0: %v", err)
	}
}

// A view whose numbers begin elsewhere has the rows of these numbers, and no others.
func TestGalleryViewFrom(t *testing.T) {
	g := AllRows{Dimension: 2, Rows: Compact{Anchors: []uint16{5, 6}, Steps: []uint16{7, 8}, Codes: []int8{1, 2, 3, 4}}}
	frame, err := g.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	v, err := ViewRows(frame)
	if err != nil {
		t.Fatal(err)
	}
	v = v.From(100)
	var got Compact
	if err := v.Gather(&got, []uint32{101, Padding, 100}); err != nil {
		t.Fatal(err)
	}
	if got.Anchors[0] != 6 || got.Steps[2] != 7 || got.Codes[1] != 4 || got.Codes[2] != 0 {
		t.Errorf("%+v", got)
	}
	for _, id := range []uint32{0, 99, 102, Padding - 1} {
		if err := v.Gather(&got, []uint32{id}); !errors.Is(err, ErrMessage) {
			t.Errorf("row %d: %v", id, err)
		}
	}
}
