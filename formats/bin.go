package formats

import (
	"encoding/binary"
	"io"
)

// readBinHeader reads the uint32 rows and uint32 columns before the rows of a .fbin file or a
// related format. The elements are little-endian.
func readBinHeader(s *source, k kind) (array, error) {
	var head [8]byte
	if err := s.readFull(head[:]); err != nil {
		return array{}, err
	}
	n, d := binary.LittleEndian.Uint32(head[:4]), binary.LittleEndian.Uint32(head[4:])
	return array{shape: []uint64{uint64(n), uint64(d)}, dtype: dtype{kind: k}, unmarked: true}, nil
}

// writeBin writes a matrix with its header.
func writeBin[T element](w io.Writer, data []T, rows, cols int) error {
	head := binary.LittleEndian.AppendUint32(nil, uint32(rows))
	head = binary.LittleEndian.AppendUint32(head, uint32(cols))
	if _, err := w.Write(head); err != nil {
		return err
	}
	return writeElements(w, data, false)
}
