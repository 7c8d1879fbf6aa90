package wiretap

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
)

// A Trace is a form in which numbers could occur in bytes.
type Trace struct {
	Encoding string
	Bytes    []byte
}

// Traces returns the forms that parts of a row of numbers can have in bytes: float16,
// float32 and float64 in both byte orders, plain, in hexadecimal digits and in base64, and
// decimal text. A trace is so long that it does not occur in other bytes by chance. A row
// needs at least four numbers, and numbers that are short as text have no decimal trace.
func Traces(row []float64) (all []Trace) {
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for at := range row {
			if at+4 <= len(row) {
				var b []byte
				for _, v := range row[at : at+4] {
					b = order.AppendUint16(b, half(v))
				}
				all = append(all, written(fmt.Sprintf("float16 %v", order), b)...)
			}
			if at+2 <= len(row) {
				var b []byte
				for _, v := range row[at : at+2] {
					b = order.AppendUint32(b, math.Float32bits(float32(v)))
				}
				all = append(all, written(fmt.Sprintf("float32 %v", order), b)...)
			}
			all = append(all, written(fmt.Sprintf("float64 %v", order), order.AppendUint64(nil, math.Float64bits(row[at])))...)
		}
	}
	for _, v := range row {
		for _, text := range []string{
			strconv.FormatFloat(v, 'g', -1, 64), strconv.FormatFloat(v, 'g', -1, 32), strconv.FormatFloat(v, 'e', -1, 64),
			strconv.FormatFloat(v, 'f', 8, 64), strconv.FormatFloat(v, 'g', 8, 64),
		} {
			if len(text) >= 8 {
				all = append(all, Trace{"decimal", []byte(text)})
			}
		}
	}
	return all
}

// written returns bytes unchanged and as text.
func written(encoding string, b []byte) []Trace {
	digits := hex.EncodeToString(b)
	all := []Trace{{encoding, b}, {encoding + ", hexadecimal", []byte(digits)}, {encoding + ", hexadecimal", bytes.ToUpper([]byte(digits))}}
	for shift := range 3 { // how many bytes of a group of three come before them
		for name, e := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
			text := e.EncodeToString(append(make([]byte, shift), b...))
			// The letters at both ends also depend on neighbouring bytes.
			first := (8*shift + 5) / 6
			last := (8 * (shift + len(b))) / 6
			all = append(all, Trace{encoding + ", " + name, []byte(text[first:last])})
		}
	}
	return all
}

// half returns the bits of the float16 nearest to v. It returns zero, which is no trace,
// if v is too large or too small.
func half(v float64) uint16 {
	fraction, exponent := math.Frexp(math.Abs(v))
	if v == 0 || exponent < -13 || exponent > 16 {
		return 0
	}
	mantissa := uint16(math.RoundToEven((2*fraction - 1) * 1024)) // 1024 carries into the exponent
	bits := uint16(exponent+14)<<10 + mantissa
	if v < 0 {
		bits |= 1 << 15
	}
	return bits
}

// Find returns the encoding of the first trace that occurs in bytes, "" if there is none.
func Find(in []byte, traces []Trace) string {
	for _, t := range traces {
		if bytes.Contains(in, t.Bytes) {
			return t.Encoding
		}
	}
	return ""
}
