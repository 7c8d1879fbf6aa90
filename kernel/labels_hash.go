package kernel

import "github.com/seed-64e14a55/privatemail/internal/digest"

// Hash returns the SHA-256 of the labels and of the weights between them: two Labels with the
// same hash move an iterate alike. It does not hide labels from somebody who can guess them.
func (l *Labels) Hash() [digest.Size]byte {
	h := digest.New()
	h.Put(uint64(len(l.own.Class)))
	for _, c := range l.own.Class {
		h.Put32(c)
	}
	h.Put(uint64(len(l.values)))
	h.PutFloat(l.own.Weights.Constant)
	for c, v := range l.values {
		row := l.own.Weights.Row(c)
		h.Put32(uint32(v))
		h.Put(uint64(l.own.Weights.First[c]))
		h.Put(uint64(len(row)))
		for _, w := range row {
			h.PutFloat(w)
		}
	}
	return h.Sum()
}
