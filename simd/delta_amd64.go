//go:build gc && !noasm && !purego

package simd

import "unsafe"

func columnsAtAVX2(ind []uint32, c *Deltas, p uint64, at DeltaRow) {
	columnsAVX2(&ind[0], &c.Words[p], uintptr(len(ind)), c.farAt(at), at.Column)
}

func columnsAtAVX512(ind []uint32, c *Deltas, p uint64, at DeltaRow) {
	columnsAVX512(&ind[0], &c.Words[p], uintptr(len(ind)), c.farAt(at), at.Column)
}

func singlesOfAVX2(dst []float32, half []uint16) {
	singlesAVX2(unsafe.SliceData(dst), unsafe.SliceData(half), uintptr(len(half)))
}

func singlesOfAVX512(dst []float32, half []uint16) {
	singlesAVX512(unsafe.SliceData(dst), unsafe.SliceData(half), uintptr(len(half)))
}

// farAt returns the address of the next far difference. Where there are none
// AVX-512 looks for them all the same, with an empty mask, which is slow where
// there is no memory.
func (c *Deltas) farAt(at DeltaRow) *uint32 {
	if rest := c.Far[at.Far:]; len(rest) > 0 {
		return &rest[0]
	}
	return &noFar[0]
}

var noFar [16]uint32
