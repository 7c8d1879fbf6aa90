package formats

import (
	"encoding/binary"
	"io"
	"slices"
)

// idxKinds are the element types of IDX by their code, the third byte of the file.
var idxKinds = [256]kind{0x08: u1, 0x09: i1, 0x0b: i2, 0x0c: i4, 0x0d: f4, 0x0e: f8}

// readIDXHeader reads two zero bytes, a type code, the number of dimensions, and as many uint32
// lengths. Everything in IDX is big-endian.
func readIDXHeader(s *source) (array, error) {
	var head [4]byte
	if err := s.readFull(head[:]); err != nil {
		return array{}, err
	}
	k, dims := idxKinds[head[2]], int(head[3])
	if head[0] != 0 || head[1] != 0 || k == noKind || dims == 0 {
		return array{}, failf(ErrFormat, "not an IDX file: it does not begin with two zero bytes, a type code and a number of dimensions").in("magic").at(0)
	}
	raw := make([]byte, 4*dims)
	if err := s.readFull(raw); err != nil {
		return array{}, err
	}
	a := array{shape: make([]uint64, dims), dtype: dtype{k, k.size() > 1}}
	for i := range a.shape {
		a.shape[i] = uint64(binary.BigEndian.Uint32(raw[4*i:]))
	}
	return a, nil
}

// writeIDX writes a header and the elements, whose kind must be one of idxKinds.
func writeIDX[T element](w io.Writer, data []T, shape ...int) error {
	code := slices.Index(idxKinds[:], native[T]().kind)
	head := []byte{0, 0, byte(code), byte(len(shape))}
	for _, n := range shape {
		head = binary.BigEndian.AppendUint32(head, uint32(n))
	}
	if _, err := w.Write(head); err != nil {
		return err
	}
	return writeElements(w, data, true)
}
