package formats

import (
	"slices"
	"strconv"
	"strings"
)

// npyDict is the header of a .npy file: a Python dictionary with exactly three keys.
type npyDict struct {
	descr   string
	fortran bool
	shape   []uint64
}

// maxDims is the most dimensions an array may have, as in NumPy.
const maxDims = 64

// dictParser reads the one form of Python literal that a header may have. base is the offset of
// text in the file, for messages.
type dictParser struct {
	text string
	pos  int
	base int64
}

// parseDict parses a header such as
//
//	{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//
// with nothing but white space around it.
func parseDict(text string, base int64) (d npyDict, err error) {
	p := &dictParser{text: text, base: base}
	if !p.accept("{") {
		return d, p.unexpected("{")
	}
	var seen []string
	for !p.accept("}") {
		key, err := p.quoted()
		if err != nil {
			return d, err
		}
		if slices.Contains(seen, key) {
			return d, p.failf(ErrFormat, "a key occurs twice")
		}
		seen = append(seen, key)
		if !p.accept(":") {
			return d, p.unexpected(":")
		}
		switch key {
		case "descr":
			d.descr, err = p.descr()
		case "fortran_order":
			d.fortran, err = p.boolean()
		case "shape":
			d.shape, err = p.tuple()
		default:
			err = p.failf(ErrFormat, "unknown key; a header has descr, fortran_order and shape")
		}
		if err != nil {
			return d, err
		}
		if !p.accept(",") && !p.at("}") {
			return d, p.unexpected(", or }")
		}
	}
	if p.space(); p.pos < len(p.text) {
		return d, p.unexpected("the end of the header")
	}
	if len(seen) != 3 {
		return d, p.failf(ErrFormat, "descr, fortran_order and shape are needed, the header has only %d of them", len(seen))
	}
	return d, nil
}

func (p *dictParser) failf(kind error, format string, args ...any) error {
	return failf(kind, format, args...).in("header").at(p.base + int64(p.pos))
}

func (p *dictParser) unexpected(want string) error {
	return p.failf(ErrFormat, "expected %s", want)
}

func (p *dictParser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// at reports whether token comes next, after white space.
func (p *dictParser) at(token string) bool {
	p.space()
	return strings.HasPrefix(p.text[p.pos:], token)
}

// accept skips token if it comes next.
func (p *dictParser) accept(token string) bool {
	if !p.at(token) {
		return false
	}
	p.pos += len(token)
	return true
}

// quoted reads a string in single or double quotes. NumPy never writes escapes.
func (p *dictParser) quoted() (string, error) {
	for _, quote := range []string{"'", `"`} {
		if !p.accept(quote) {
			continue
		}
		body, _, ok := strings.Cut(p.text[p.pos:], quote)
		if !ok || strings.ContainsAny(body, "\\\n") {
			return "", p.failf(ErrFormat, "unfinished or escaped string")
		}
		p.pos += len(body) + 1
		return body, nil
	}
	return "", p.unexpected("a quoted string")
}

func (p *dictParser) descr() (string, error) {
	if p.at("[") || p.at("(") {
		return "", p.failf(ErrUnsupported, "the array has a structured type; save one field of it")
	}
	return p.quoted()
}

func (p *dictParser) boolean() (bool, error) {
	switch {
	case p.accept("True"):
		return true, nil
	case p.accept("False"):
		return false, nil
	}
	return false, p.unexpected("True or False")
}

// tuple reads a shape: (), (3,) or (3, 4).
func (p *dictParser) tuple() ([]uint64, error) {
	if !p.accept("(") {
		return nil, p.unexpected("(")
	}
	dims := []uint64{}
	for !p.accept(")") {
		if len(dims) == maxDims {
			return nil, p.failf(ErrFormat, "more than %d dimensions", maxDims)
		}
		d, err := p.dimension()
		if err != nil {
			return nil, err
		}
		dims = append(dims, d)
		switch {
		case p.accept(","):
		case len(dims) == 1: // (3) is a number in parentheses
			return nil, p.unexpected(",")
		case !p.at(")"):
			return nil, p.unexpected(", or )")
		}
	}
	return dims, nil
}

// dimension reads a length, with the L that Python 2 wrote after some.
func (p *dictParser) dimension() (uint64, error) {
	if p.at("-") {
		return 0, p.failf(ErrFormat, "negative dimension in shape")
	}
	end := p.pos
	for end < len(p.text) && '0' <= p.text[end] && p.text[end] <= '9' {
		end++
	}
	d, err := strconv.ParseUint(p.text[p.pos:end], 10, 63)
	if err != nil {
		return 0, p.failf(ErrFormat, "expected a dimension below 2^63 in shape")
	}
	if p.pos = end; strings.HasPrefix(p.text[p.pos:], "L") {
		p.pos++
	}
	return d, nil
}

// npyKinds are the types of elements that are numbers.
var npyKinds = map[string]kind{
	"f2": f2, "f4": f4, "f8": f8,
	"i1": i1, "i2": i2, "i4": i4, "i8": i8,
	"u1": u1, "u2": u2, "u4": u4, "u8": u8,
	"b1": u1, // booleans are stored as 0 and 1
}

// parseDescr turns a type such as "<f4" into a dtype.
func parseDescr(descr string) (dtype, error) {
	unsupported := func(what string) (dtype, error) {
		return dtype{}, failf(ErrUnsupported, "the elements are %s; floats of 16 to 64 bits, integers of 8 to 64 bits and booleans can be read", what).in("header")
	}
	if len(descr) < 2 || strings.IndexByte("<>=|", descr[0]) < 0 {
		return dtype{}, failf(ErrFormat, "the type of the elements has no byte order").in("header")
	}
	k, ok := npyKinds[descr[1:]]
	if !ok {
		switch descr[1] {
		case 'O':
			return dtype{}, failf(ErrUnsupported, "the elements are Python objects; save astype(float), astype(int) or, of names, astype(str) of the array").in("header")
		case 'S', 'U', 'a':
			return unsupported("text")
		case 'c':
			return unsupported("complex numbers")
		case 'V':
			return unsupported("structures")
		case 'M', 'm':
			return unsupported("dates or times")
		case 'f', 'i', 'u':
			return unsupported("numbers of another size")
		}
		return unsupported("of an unknown kind")
	}
	if k.size() == 1 {
		return dtype{kind: k}, nil
	}
	switch descr[0] {
	case '|':
		return dtype{}, failf(ErrFormat, "the elements have several bytes but no byte order").in("header")
	case '=':
		return dtype{k, hostBig}, nil
	}
	return dtype{k, descr[0] == '>'}, nil
}
