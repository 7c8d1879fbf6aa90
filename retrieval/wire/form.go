package wire

import "fmt"

// A Form says how the rows of a message are written. Which one a client asks for is
// public, so it should be the same for all its queries.
type Form uint8

const (
	// Float32 is four bytes an entry, and exact.
	Float32 Form = iota
	// Int8 is a byte an entry and four more a row: see Compact.
	Int8
)

// forms are the names of the forms, by number.
var forms = [...]string{Float32: "float32", Int8: "int8"}

// String returns "float32" or "int8".
func (f Form) String() string {
	if int(f) < len(forms) {
		return forms[f]
	}
	return fmt.Sprintf("form %d", uint8(f))
}

// ParseForm returns the form of a name that String returns. The error is ErrMessage.
func ParseForm(name string) (Form, error) {
	for f, known := range forms {
		if name == known {
			return Form(f), nil
		}
	}
	return 0, refuse("form", "want %s or %s", Float32, Int8)
}

// Check returns nil, or ErrMessage for a number that is no form.
func (f Form) Check() error {
	if int(f) >= len(forms) {
		return refuse("form", "%d, want %s or %s", uint8(f), Float32, Int8)
	}
	return nil
}

// rowsSize returns the length of n rows of dimension d in a body, with the lengths of the
// slices they are written as.
func (f Form) rowsSize(n, d int64) int64 {
	if f == Int8 {
		return 3*8 + n*(2+2+d)
	}
	return 8 + 4*n*d
}

// checkFormRows looks at n rows that are written in a form: they are in rows or in
// compact, and the other one is empty.
func checkFormRows(form Form, dimension, n int, rows []float32, compact *Compact) error {
	if err := form.Check(); err != nil {
		return err
	}
	if form == Int8 {
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

func encodeFormRows(e *encoder, form Form, rows []float32, compact *Compact) {
	if form == Int8 {
		encodeSlice(e, compact.Anchors)
		encodeSlice(e, compact.Steps)
		encodeSlice(e, compact.Codes)
		return
	}
	encodeSlice(e, rows)
}

func decodeFormRows(d *decoder, form Form) (rows []float32, compact Compact) {
	if form == Int8 {
		compact.Anchors = decodeSlice[uint16](d, "anchors")
		compact.Steps = decodeSlice[uint16](d, "steps")
		compact.Codes = decodeSlice[int8](d, "codes")
		return nil, compact
	}
	return decodeSlice[float32](d, "rows"), compact
}

// formOf returns Int8 where the frame says that it is of that kind, and Float32 for all
// others, right or wrong.
func formOf(frame []byte, compact Kind) Form {
	if kind, err := KindOf(frame); err == nil && kind == compact {
		return Int8
	}
	return Float32
}
