//go:build (amd64 || arm64) && gc && !noasm && !purego

package simd

import "slices"

// A wordLayout says how a level wants words. It takes them as pieces: the bytes of words, or
// their halves. Blocks of pieces follow each other, and the pieces of a column, the lower ones
// first. In a block the places come in units: each holds some places of the first piece, then
// those places of the second, and so on.
//
// An odd piece at the end gets a neighbour of zeros, so that a block has an even number.
type wordLayout struct {
	most   int  // pieces of a block, all but the last
	unit   int  // places
	halves bool // of words; bytes otherwise
	// sign has the highest bit of each piece that is taken as signed. A piece that is less
	// than 0 borrows from the one above it in its word. Nothing is borrowed from the words
	// beyond: products count modulo 2^32.
	sign uint32
}

// perWord returns the number of pieces of a word of which some bytes count.
func (l *wordLayout) perWord(width int) int {
	if l.halves {
		return (width + 1) / 2
	}
	return width
}

// fourPlaces returns how many words of 32 bits four places of a piece take.
func (l *wordLayout) fourPlaces() int {
	if l.halves {
		return 2
	}
	return 1
}

// blocks calls do for every block, with its first piece and its number of pieces.
func (l *wordLayout) blocks(w *Words, do func(first, pieces int)) {
	for first := 0; first < len(w.pieces); first += l.most {
		do(first, min(l.most, len(w.pieces)-first))
	}
}

// at returns where the places from t on of a block begin in packed.
func (l *wordLayout) at(w *Words, first, pieces, t int) int {
	return (first*w.depth + pieces*t) / 4 * l.fourPlaces()
}

// pack sets the pieces of w and lays words out.
func (l *wordLayout) pack(w *Words, words []uint32) {
	per, bits := l.perWord(w.width), 8
	if l.halves {
		bits = 16
	}
	w.pieces = w.pieces[:0]
	for c := range w.columns {
		for p := range per {
			w.pieces = append(w.pieces, [2]uint32{uint32(c), uint32(32 - bits*(per-p))})
		}
	}
	pieces := len(w.pieces)
	if pieces%2 != 0 {
		w.pieces = append(w.pieces, w.pieces[pieces-1]) // adds zeros to what it belongs to
	}
	total := l.at(w, len(w.pieces), 0, 0)
	w.packed = slices.Grow(w.packed[:0], total)[:total]
	if pieces%2 != 0 {
		to, step := l.place(w, pieces)
		for ; to < total; to += step {
			clear(w.packed[to:][:l.unit/4*l.fourPlaces()])
		}
	}
	for c := range w.columns {
		column := words[c*w.depth : (c+1)*w.depth]
		if l.halves {
			l.packHalves(w, column, c*per)
		} else {
			l.packBytes(w, column, c*per)
		}
	}
}

// place returns where a piece begins in packed, and how far its units are from each other.
func (l *wordLayout) place(w *Words, piece int) (at, step int) {
	first := piece / l.most * l.most
	pieces := min(l.most, len(w.pieces)-first)
	unit := l.unit / 4 * l.fourPlaces()
	return l.at(w, first, pieces, 0) + (piece-first)*unit, pieces * unit
}

// packBytes lays the bytes of a column out, whose first piece is given.
func (l *wordLayout) packBytes(w *Words, column []uint32, first int) {
	var to, step [4]int
	for b := range w.width {
		to[b], step[b] = l.place(w, first+b)
	}
	packed, lines, sign := w.packed, l.unit/4, l.sign
	for ; len(column) > 0; column = column[l.unit:] {
		for line := range lines {
			x := (*[4]uint32)(column[4*line:])
			x0, x1, x2, x3 := (x[0]+sign)^sign, (x[1]+sign)^sign, (x[2]+sign)^sign, (x[3]+sign)^sign
			// Bytes 0 and 2 of two words side by side, bytes 1 and 3 of them, then of all four.
			const even = 0x00ff00ff
			lower02, lower13 := x0&even|x1&even<<8, x0>>8&even|x1&^even
			upper02, upper13 := x2&even|x3&even<<8, x2>>8&even|x3&^even
			bytes := [4]uint32{
				lower02&0xffff | upper02<<16, lower13&0xffff | upper13<<16,
				lower02>>16 | upper02&0xffff0000, lower13>>16 | upper13&0xffff0000,
			}
			switch w.width {
			case 4:
				packed[to[0]+line], packed[to[1]+line], packed[to[2]+line], packed[to[3]+line] = bytes[0], bytes[1], bytes[2], bytes[3]
			case 3:
				packed[to[0]+line], packed[to[1]+line], packed[to[2]+line] = bytes[1], bytes[2], bytes[3]
			case 2:
				packed[to[0]+line], packed[to[1]+line] = bytes[2], bytes[3]
			default:
				packed[to[0]+line] = bytes[3]
			}
		}
		for b := range to {
			to[b] += step[b]
		}
	}
}

// packHalves lays the halves of a column out, whose first piece is given. Of four places the even
// ones come first.
func (l *wordLayout) packHalves(w *Words, column []uint32, first int) {
	both := l.perWord(w.width) == 2
	lower, lowerStep := l.place(w, first)
	upper, upperStep := lower, lowerStep
	if both {
		upper, upperStep = l.place(w, first+1)
	}
	packed, sign := w.packed, l.sign
	for ; len(column) > 0; column = column[4:] {
		x := (*[4]uint32)(column)
		x0, x1, x2, x3 := (x[0]+sign)^sign, (x[1]+sign)^sign, (x[2]+sign)^sign, (x[3]+sign)^sign
		if both {
			packed[lower], packed[lower+1] = x0&0xffff|x2<<16, x1&0xffff|x3<<16
			lower += lowerStep
		}
		packed[upper], packed[upper+1] = x0>>16|x2&0xffff0000, x1>>16|x3&0xffff0000
		upper += upperStep
	}
}
