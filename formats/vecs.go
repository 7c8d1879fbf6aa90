package formats

import (
	"encoding/binary"
	"io"
	"math"
)

// vecsHead is the number of bytes of the dimension before each row.
const vecsHead = 4

// readVecs reads rows that are each a little-endian int32 d followed by d elements of kind k. All
// rows must have the same d, and the file must end with a row. Nothing distinguishes a d from
// an element, so no message shows one.
func readVecs[T element](s *source, k kind) (rows, cols int, data []T, err error) {
	whole, d, rest, err := vecsSize(s, k)
	if err != nil {
		return 0, 0, nil, err
	}
	body := int64(d) * int64(k.size())
	rows, cols = whole, d
	if rest == 0 { // otherwise the rows are only checked, to find the one at fault
		data = make([]T, rows*cols)
	}
	scratch := newScratch(int(min(bufferSize, body)))
	for i := range rows {
		if err := readVecsDim(s, int32(d), i); err != nil {
			return 0, 0, nil, err
		}
		if data == nil {
			if err := s.skip(body); err != nil {
				return 0, 0, nil, err
			}
			continue
		}
		bad, err := fill(s, data[i*cols:(i+1)*cols], dtype{kind: k}, scratch)
		if err != nil {
			return 0, 0, nil, err
		}
		if bad >= 0 {
			return 0, 0, nil, rangeError(i*cols+bad, cols, k, native[T]().kind)
		}
	}
	if rest == 0 {
		return rows, cols, data, s.end()
	}
	if rest >= 4 {
		if err := readVecsDim(s, int32(d), rows); err != nil {
			return 0, 0, nil, err
		}
	}
	return 0, 0, nil, failf(errTruncated, "the file ends within the row").atRow(rows)
}

// vecsSize finds the dimension before the first row, without consuming it, and the number of
// whole rows by the size of the file. rest is the number of bytes after them.
func vecsSize(s *source, k kind) (rows, cols int, rest int64, err error) {
	if !s.exact {
		return 0, 0, 0, failf(ErrUnsupported, "the number of rows follows from the file's size, so it cannot be read compressed")
	}
	first, err := s.r.Peek(4)
	if err != nil {
		return 0, 0, 0, streamError(err, int64(len(first)))
	}
	d := int32(binary.LittleEndian.Uint32(first))
	if d <= 0 {
		return 0, 0, 0, failf(ErrFormat, "the dimension is zero or negative").atRow(0).at(0)
	}
	body := int64(d) * int64(k.size())
	whole := s.size / (vecsHead + body)
	switch {
	case whole == 0:
		return 0, 0, 0, failf(errTruncated, "the dimension makes the row longer than the %d bytes of the file", s.size).atRow(0)
	case whole > math.MaxInt/8/int64(d):
		return 0, 0, 0, failf(ErrUnsupported, "the file has more elements than this machine can address")
	}
	return int(whole), int(d), s.size % (vecsHead + body), nil
}

// readVecsDim reads the dimension of row i, which must be that of the first.
func readVecsDim(s *source, want int32, i int) error {
	var word [4]byte
	off := s.off
	if err := s.readFull(word[:]); err != nil {
		return err
	}
	if int32(binary.LittleEndian.Uint32(word[:])) != want {
		return failf(ErrFormat, "the dimension differs from that of row 1").atRow(i).at(off)
	}
	return nil
}

// writeVecs writes the rows of data, cols elements each.
func writeVecs[T element](w io.Writer, data []T, cols int) error {
	dim := binary.LittleEndian.AppendUint32(nil, uint32(cols))
	for ; len(data) > 0; data = data[cols:] {
		if _, err := w.Write(dim); err != nil {
			return err
		}
		if err := writeElements(w, data[:cols], false); err != nil {
			return err
		}
	}
	return nil
}
