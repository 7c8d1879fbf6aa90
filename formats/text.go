package formats

import (
	"bytes"
)

// splitFields appends the fields of a line to dst. sep 0 means runs of white space. A field may
// be in double quotes, within which a separator is text and "" a quote. It must end on its
// line, or record. ok is false if quotes do not match. Splitting ends after maxColumns fields
// and one more.
func splitFields(dst [][]byte, line []byte, sep byte) (fields [][]byte, ok bool) {
	if sep == 0 {
		for field := range bytes.FieldsSeq(line) {
			if dst = append(dst, field); len(dst) > maxColumns {
				break
			}
		}
		return dst, true
	}
	for {
		line = bytes.TrimLeft(line, " ")
		var field []byte
		if len(line) > 0 && line[0] == '"' {
			if field, line, ok = cutQuoted(line[1:]); !ok {
				return dst, false
			}
			line = bytes.TrimLeft(line, " ")
			if len(line) > 0 && line[0] != sep {
				return dst, false
			}
		} else {
			end := bytes.IndexByte(line, sep)
			if end < 0 {
				end = len(line)
			}
			field, line = bytes.TrimRight(line[:end], " "), line[end:]
		}
		if dst = append(dst, field); len(line) == 0 || len(dst) > maxColumns {
			return dst, true
		}
		line = line[1:]
	}
}

// cutQuoted returns the text up to the closing quote, and the rest after it.
func cutQuoted(line []byte) (field, rest []byte, ok bool) {
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] != '"':
			field = append(field, line[i])
		case i+1 < len(line) && line[i+1] == '"':
			field = append(field, '"')
			i++
		default:
			return field, line[i+1:], true
		}
	}
	return nil, nil, false
}

// parseFloat reads a decimal number with digits, sign, point and exponent, but not Go's
// other forms (hexadecimal, underscores, names). The error is ErrFormat.
func parseFloat(field []byte) (float64, error) { return parseValue[float64](field) }

// parseUint reads a number made of digits only. It does not allocate.
func parseUint(field []byte) (uint64, bool) {
	if len(field) == 0 || len(field) > 19 { // 19 digits always fit
		return 0, false
	}
	var v uint64
	for _, c := range field {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = 10*v + uint64(c-'0')
	}
	return v, true
}
