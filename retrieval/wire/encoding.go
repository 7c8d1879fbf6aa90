package wire

import "fmt"

// An Encoding says how the rows of a message are written. Which one a client asks for is
// public, so it should be the same for all its queries.
type Encoding uint8

const (
	// Float32 is four bytes an entry, and exact.
	Float32 Encoding = iota
	// Int8 is a byte an entry and four more a row: see Compact.
	Int8
)

// encodings are the names of the encodings, by number.
var encodings = [...]string{Float32: "float32", Int8: "int8"}

// String returns "float32" or "int8".
func (f Encoding) String() string {
	if int(f) < len(encodings) {
		return encodings[f]
	}
	return fmt.Sprintf("encoding %d", uint8(f))
}

// ParseEncoding returns the encoding of a name that String returns. The error is ErrMessage.
func ParseEncoding(name string) (Encoding, error) {
	for f, known := range encodings {
		if name == known {
			return Encoding(f), nil
		}
	}
	return 0, refuse("encoding", "want %s or %s", Float32, Int8)
}

// Check returns nil, or ErrMessage for a number that is no encoding.
func (f Encoding) Check() error {
	if int(f) >= len(encodings) {
		return refuse("encoding", "%d, want %s or %s", uint8(f), Float32, Int8)
	}
	return nil
}

// rowsSize returns the length of n rows of dimension d in a body, with the lengths of the
// slices they are written as.
func (f Encoding) rowsSize(n, d int64) int64 {
	if f == Int8 {
		return 3*8 + n*(2+2+d)
	}
	return 8 + 4*n*d
}

// checkRowsAs looks at n rows that are written in an encoding: they are in rows or in
// compact, and the other one is empty.
func checkRowsAs(encoding Encoding, dimension, n int, rows []float32, compact *Compact) error {
	if err := encoding.Check(); err != nil {
		return err
	}
	if encoding == Int8 {
		if len(rows) > 0 {
			return refuse("rows", "%d numbers of float32 in a message of int8", len(rows))
		}
		return compact.check(dimension, n)
	}
	if !compact.empty() {
		return refuse("compact", "rows of int8 in a message of float32")
	}
	return checkRows(dimension, n, rows)
}

func encodeRowsAs(e *encoder, encoding Encoding, rows []float32, compact *Compact) {
	if encoding == Int8 {
		encodeSlice(e, compact.Anchors)
		encodeSlice(e, compact.Steps)
		encodeSlice(e, compact.Codes)
		return
	}
	encodeSlice(e, rows)
}

func decodeRowsAs(d *decoder, encoding Encoding) (rows []float32, compact Compact) {
	if encoding == Int8 {
		compact.Anchors = decodeSlice[uint16](d, "anchors")
		compact.Steps = decodeSlice[uint16](d, "steps")
		compact.Codes = decodeSlice[int8](d, "codes")
		return nil, compact
	}
	return decodeSlice[float32](d, "rows"), compact
}

// encodingOf returns Int8 where the frame says that it is of that kind, and Float32 for all
// others, right or wrong.
func encodingOf(frame []byte, compact kind) Encoding {
	if kind, err := kindOf(frame); err == nil && kind == compact {
		return Int8
	}
	return Float32
}
