package kernel

import "github.com/seed-64e14a55/privatemail/internal/digest"

// Hash returns the SHA-256 of the labels and of the weights between them: two Labels with the
// same hash move an iterate alike. It does not hide labels from somebody who can guess them.
func (l *Labels) Hash() [digest.Size]byte {
	h := digest.New()
	h.Put(uint64(len(l.own.class)))
	for _, c := range l.own.class {
		h.Put32(c)
	}
	h.Put(uint64(len(l.values)))
	h.PutFloat(l.own.weights.constant)
	for c, v := range l.values {
		row := l.own.weights.row(c)
		h.Put32(uint32(v))
		h.Put(uint64(l.own.weights.first[c]))
		h.Put(uint64(len(row)))
		for _, w := range row {
			h.PutFloat(w)
		}
	}
	return h.Sum()
}
