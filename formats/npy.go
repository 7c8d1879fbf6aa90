package formats

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	npyMagic     = "\x93NUMPY"
	maxNPYHeader = 1 << 16 // bytes; NumPy itself refuses to read more than 10000 by default
	npyAlign     = 64
	growthDigits = 21 // digits that NumPy leaves room for, so that the first dimension can grow
)

// readNPYDict reads magic, version, length and dictionary, and leaves s at the first element.
func readNPYDict(s *source) (d npyDict, err error) {
	var head [12]byte
	if err := s.readFull(head[:8]); err != nil {
		return d, err
	}
	if string(head[:6]) != npyMagic {
		return d, failf(ErrFormat, "not a .npy file: it does not begin with \\x93NUMPY").in("magic").at(0)
	}
	var length int64
	switch major, minor := head[6], head[7]; {
	case major == 1 && minor == 0:
		if err := s.readFull(head[8:10]); err != nil {
			return d, err
		}
		length = int64(binary.LittleEndian.Uint16(head[8:]))
	case (major == 2 || major == 3) && minor == 0:
		if err := s.readFull(head[8:12]); err != nil {
			return d, err
		}
		length = int64(binary.LittleEndian.Uint32(head[8:]))
	default:
		return d, failf(ErrUnsupported, ".npy version %d.%d; 1.0, 2.0 and 3.0 can be read", major, minor).in("version").at(6)
	}
	switch {
	case length > maxNPYHeader:
		return d, failf(ErrFormat, "the header claims %d bytes, more than the %d allowed", length, maxNPYHeader).in("header").at(8)
	case length > s.left():
		return d, failf(errTruncated, "the header claims %d bytes but only %d follow", length, s.left()).in("header").at(8)
	}
	base := s.off
	text := make([]byte, length)
	if err := s.readFull(text); err != nil {
		return d, err
	}
	return parseDict(string(text), base)
}

// readNPYHeader is readNPYDict for arrays of numbers.
func readNPYHeader(s *source) (array, error) {
	d, err := readNPYDict(s)
	if err != nil {
		return array{}, err
	}
	return d.array()
}

// array returns what the header says about numbers.
func (d npyDict) array() (array, error) {
	dt, err := parseDescr(d.descr)
	if err != nil {
		return array{}, err
	}
	wide := 0 // if at most one dimension is above 1, both orders are the same
	for _, n := range d.shape {
		if n > 1 {
			wide++
		}
	}
	return array{shape: d.shape, dtype: dt, fortran: d.fortran && wide > 1}, nil
}

// writeNPYHeader writes version 1.0 with the bytes that NumPy writes since 1.23. descr is a type
// such as "<f4".
func writeNPYHeader(w io.Writer, descr string, shape ...int) error {
	dims := make([]string, len(shape))
	for i, n := range shape {
		dims[i] = strconv.Itoa(n)
	}
	tuple := strings.Join(dims, ", ")
	room := 0
	switch len(shape) {
	case 0:
	case 1:
		tuple += ","
		fallthrough
	default:
		room = max(0, growthDigits-len(dims[0]))
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }%*s", descr, tuple, room, "")
	const fixed = len(npyMagic) + 4
	pad := npyAlign - (fixed+len(text)+1)%npyAlign
	text += strings.Repeat(" ", pad) + "\n"
	head := append([]byte(npyMagic), 1, 0)
	head = binary.LittleEndian.AppendUint16(head, uint16(len(text)))
	_, err := w.Write(append(head, text...))
	return err
}

// writeNPY writes a header and the elements.
func writeNPY[T element](w io.Writer, data []T, shape ...int) error {
	if err := writeNPYHeader(w, native[T]().kind.descr(), shape...); err != nil {
		return err
	}
	return writeElements(w, data, false)
}

// writeElements writes data in the given byte order.
func writeElements[T element](w io.Writer, data []T, big bool) error {
	size := native[T]().kind.size()
	if size == 1 || big == hostBig {
		_, err := w.Write(asBytes(data))
		return err
	}
	scratch := make([]byte, min(bufferSize, len(data)*size))
	for len(data) > 0 {
		n := min(len(data), bufferSize/size)
		raw := scratch[:copy(scratch, asBytes(data[:n]))]
		swap(raw, size)
		if _, err := w.Write(raw); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// writeConverted converts each element by to and writes it little-endian, piece by piece.
func writeConverted[D, S element](w io.Writer, data []S, to func(S) D) error {
	piece := make([]D, min(len(data), bufferSize/8))
	for len(data) > 0 {
		n := min(len(piece), len(data))
		for i, v := range data[:n] {
			piece[i] = to(v)
		}
		if err := writeElements(w, piece[:n], false); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
