package simd

import (
	"encoding/binary"
	"unsafe"
)

// ByteDotsAbove finds the columns whose dot product with a row, in integers, is large. It
// sets bit j%64 of mask[i*words+j/64] where
//
//	sum over t < depth of a[i*depth+t] * b(j, t)  +  bias[j]  >=  threshold[i]
//
// and clears it elsewhere, for len(threshold) rows i and len(bias) columns j, with
// words = len(bias)/64. The bytes of a are signed, those of b are unsigned. PackBytes lays
// out the columns and adds 128 to their signed bytes. To correct for this, the caller adds
// 128 times the sum of row i of a to threshold[i].
//
// The number of columns is a multiple of 64, and so is depth, from 64 to 4096: products
// are then less than 2^27 in size. Sums are exact. Where the bias takes them beyond
// int32 they wrap, in the same way at every level. ByteDotsAbove panics where a slice is
// too short and allocates nothing. A call cannot be interrupted, not even by the garbage
// collector, so give it thousands of pairs, not billions.
//
// The byte at place t of column j is
//
//	b(j, t) = panel[(j/16)*16*depth + (t/4)*64 + (j%16)*4 + t%4]
//
// that is, in lines of four places of 16 columns. A line is one vector where the
// processor multiplies bytes, and 16 lines are one tile where it multiplies tiles.
func (s *Kernels) ByteDotsAbove(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	rows, columns := len(threshold), len(bias)
	switch {
	case columns%64 != 0 || depth%64 != 0 || depth < 64 || depth > 4096:
		panic("simd: byte dots above: bad shape")
	case rows == 0 || columns == 0:
		return
	case len(mask)/(columns/64) < rows || len(a)/depth < rows || len(panel)/depth < columns:
		panic("simd: byte dots above: short slice")
	}
	reads(a[:rows*depth])
	reads(panel[:columns*depth])
	reads(bias)
	reads(threshold)
	writes(mask[:rows*columns/64])
	s.byteDotsAbove(mask, a, panel, depth, bias, threshold)
}

// PackBytes lays out rows of signed bytes as the columns of a panel for ByteDotsAbove, and
// adds 128 to each byte. There are len(rows)/depth rows. The panel has at least as many
// columns, and a multiple of 16. Columns beyond the rows become zeros, with 128 added; a
// bias keeps them out of the mask. depth is a multiple of 4. PackBytes panics where shapes
// do not fit.
func PackBytes(panel []uint8, rows []int8, depth int) {
	if depth <= 0 || depth%4 != 0 || len(rows)%depth != 0 || len(panel)%depth != 0 || len(panel)/depth%16 != 0 || len(panel) < len(rows) {
		panic("simd: pack bytes: bad shape")
	}
	const signs = 0x80808080 // adds 128 to four bytes
	for ; len(panel) > 0; panel = panel[16*depth:] {
		for j := range 16 {
			to := panel[j*4 : 16*depth]
			if len(rows) == 0 {
				for line := 0; line < depth; line += 4 {
					binary.LittleEndian.PutUint32(to[line*16:], signs)
				}
				continue
			}
			// The same bytes, as the type that encoding/binary takes.
			row := unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(rows))), depth)
			rows = rows[depth:]
			for line := 0; line < depth; line += 4 {
				binary.LittleEndian.PutUint32(to[line*16:], binary.LittleEndian.Uint32(row[line:])^signs)
			}
		}
	}
}

// byteDotsAboveGo is the reference.
func byteDotsAboveGo(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32) {
	words := len(bias) / 64
	for i, least := range threshold {
		row := a[i*depth:][:depth]
		for w := range words {
			bits := uint64(0)
			for g := range 4 {
				first := w*64 + g*16
				sums := addByteDots(row, panel[first*depth:], [16]int32(bias[first:]))
				for j, sum := range sums {
					if sum >= least {
						bits |= 1 << (g*16 + j)
					}
				}
			}
			mask[i*words+w] = bits
		}
	}
}

// addByteDots adds the products of a row with 16 columns to sums.
func addByteDots(row []int8, group []uint8, sums [16]int32) [16]int32 {
	group = group[:16*len(row)]
	for j := range sums {
		sum := sums[j]
		for t := 0; t+4 <= len(row); t += 4 {
			x, y := (*[4]int8)(row[t:]), (*[4]uint8)(group[16*t+4*j:])
			sum += int32(x[0])*int32(y[0]) + int32(x[1])*int32(y[1]) + int32(x[2])*int32(y[2]) + int32(x[3])*int32(y[3])
		}
		sums[j] = sum
	}
	return sums
}
