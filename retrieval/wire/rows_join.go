package wire

import (
	"encoding/binary"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
)

// A Span is a run of bytes of a message that is put together from others: either Bytes, or
// Length bytes of message Of from Offset on.
type Span struct {
	Bytes          []byte // nil where the bytes are those of a message
	Of             int
	Offset, Length int64
}

// JoinRows says where the bytes of a message AllRows are that has the rows of several others, one
// behind the other: rows has the number of rows of each. The checksum of the whole is given, for
// it follows from all bytes. Whoever has the binary forms of the others can read any range of the
// whole from them. The error is ErrMessage for numbers that no such message has.
func JoinRows(codebook Hash, dimension int, rows []int, checksum [crcPairSize]byte) ([]Span, error) {
	if err := checkDimension(dimension); err != nil {
		return nil, err
	}
	all := int64(0)
	for _, n := range rows {
		if n < 1 || n > limits.MaxRows {
			return nil, refuse("rows", "%d in a part, want 1 to %d", n, limits.MaxRows)
		}
		all += int64(n)
	}
	if all < 1 || all > limits.MaxRows {
		return nil, refuse("rows", "%d, want 1 to %d", all, limits.MaxRows)
	}
	body := allRowsHead - int64(headSize) + Int8.rowsSize(all, int64(dimension))
	head := append(make([]byte, 0, allRowsHead), magic...)
	head = binary.LittleEndian.AppendUint16(head, uint16(allRowsFormat.kind))
	head = binary.LittleEndian.AppendUint16(head, allRowsFormat.version)
	head = binary.LittleEndian.AppendUint64(head, uint64(body))
	head = append(head, codebook[:]...)
	head = binary.LittleEndian.AppendUint64(head, uint64(dimension))
	spans := []Span{{Bytes: head, Length: int64(len(head))}}
	at := make([]int64, len(rows)) // where the next slice of each part begins
	for i := range at {
		at[i] = allRowsHead
	}
	// The slices anchors, steps and codes, each behind its length.
	for _, slice := range []struct{ items, bytes int64 }{{1, 2}, {1, 2}, {int64(dimension), 1}} {
		length := binary.LittleEndian.AppendUint64(nil, uint64(all*slice.items))
		spans = append(spans, Span{Bytes: length, Length: int64(len(length))})
		for i, n := range rows {
			bytes := int64(n) * slice.items * slice.bytes
			at[i] += int64(len(length))
			spans = append(spans, Span{Of: i, Offset: at[i], Length: bytes})
			at[i] += bytes
		}
	}
	return append(spans, Span{Bytes: checksum[:], Length: int64(len(checksum))}), nil
}
