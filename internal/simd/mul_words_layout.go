//go:build (amd64 || arm64) && gc && !noasm && !purego

package simd

import "slices"

// A wordLayout describes the layout of words that a level needs. Words are split into pieces:
// their bytes, or their halves. The pieces of a column follow each other, lower ones first, and
// columns follow each other. A block consists of several pieces. The places of a block come in
// units: each holds some places of the first piece, then those places of the second, and so on.
//
// An odd piece at the end gets a neighbour of zeros, so that a block has an even number.
type wordLayout struct {
	most int // pieces of a block, all but the last
	unit int // places
	bits int // of a piece
	// write lays out one piece of a column: its first unit begins at to[0], and the others
	// follow every step words.
	write func(to []uint32, step int, column []uint32, shift uint32)
}

// words returns how many 32-bit words the given number of places of a piece takes.
func (l *wordLayout) words(places int) int { return places * l.bits / 32 }

// at returns where in packed the places from t on of a block begin. The block begins with piece
// first.
func (l *wordLayout) at(w *Words, first, pieces, t int) int { return l.words(first*w.depth + pieces*t) }

// pack sets the pieces of w and lays out the words.
func (l *wordLayout) pack(w *Words, words []uint32) {
	per := (8*w.width + l.bits - 1) / l.bits // pieces of a word that may differ from 0
	w.pieces = w.pieces[:0]
	for c := range w.columns {
		for p := range per {
			w.pieces = append(w.pieces, [2]uint32{uint32(c), uint32(32 - l.bits*(per-p))})
		}
	}
	pieces := len(w.pieces)
	if pieces%2 != 0 {
		w.pieces = append(w.pieces, w.pieces[pieces-1]) // its zeros are added to the same sums
	}
	total := l.words(len(w.pieces) * w.depth)
	w.packed = slices.Grow(w.packed[:0], total)[:total]
	for p, piece := range w.pieces {
		to, step := l.place(w, p)
		if p == pieces {
			for ; to < total; to += step {
				clear(w.packed[to:][:l.words(l.unit)])
			}
			break
		}
		l.write(w.packed[to:], step, words[int(piece[0])*w.depth:][:w.depth], piece[1])
	}
}

// place returns where in packed a piece begins, and the distance between its units.
func (l *wordLayout) place(w *Words, piece int) (at, step int) {
	first := piece / l.most * l.most
	pieces := min(l.most, len(w.pieces)-first)
	return l.at(w, first, pieces, 0) + (piece-first)*l.words(l.unit), pieces * l.words(l.unit)
}
