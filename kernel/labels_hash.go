package kernel

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
)

// Hash returns the SHA-256 of the labels and of the weights between them: two Labels with the
// same hash move an iterate alike. It does not hide labels from somebody who can guess them.
func (l *Labels) Hash() [sha256.Size]byte {
	h := words{Hash: sha256.New()}
	h.put(uint64(len(l.class)))
	for _, c := range l.class {
		h.put(uint64(c))
	}
	h.put(uint64(len(l.values)))
	for _, v := range l.values {
		h.put(uint64(v))
	}
	h.put(math.Float64bits(l.weights.constant))
	for c := range l.values {
		row := l.weights.row(c)
		h.put(uint64(l.weights.first[c]))
		h.put(uint64(len(row)))
		for _, v := range row {
			h.put(math.Float64bits(v))
		}
	}
	return h.sum()
}

// words hashes numbers of 8 bytes, many at a time.
type words struct {
	hash.Hash
	buffer []byte
}

func (w *words) put(v uint64) {
	if w.buffer = binary.LittleEndian.AppendUint64(w.buffer, v); len(w.buffer) >= 1<<12 {
		w.Write(w.buffer) // never fails
		w.buffer = w.buffer[:0]
	}
}

func (w *words) sum() (sum [sha256.Size]byte) {
	w.Write(w.buffer)
	w.Sum(sum[:0])
	return sum
}
