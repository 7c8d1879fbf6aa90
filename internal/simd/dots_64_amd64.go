//go:build gc && !noasm && !purego

package simd

import "github.com/seed-64e14a55/privatemail/internal/simd/internal/asm"

// dots64Kernels are the functions of a level. Its tiles have lanes rows of a, and one,
// two or three times as many of b.
type dots64Kernels struct {
	lanes int
	pack  func(dst *float64, dstStride uintptr, rows *float64, rowStride uintptr, blocks uintptr)
	tiles [3]func(dst *float64, dstStride uintptr, a, b *float64, columns, add uintptr)
}

var (
	dots64OfAVX2 = dots64Kernels{4, asm.PackRowsF64AVX2,
		[3]func(*float64, uintptr, *float64, *float64, uintptr, uintptr){asm.DotTile1F64AVX2, asm.DotTile2F64AVX2, asm.DotTile3F64AVX2}}
	dots64OfAVX512 = dots64Kernels{8, asm.PackRowsF64AVX512,
		[3]func(*float64, uintptr, *float64, *float64, uintptr, uintptr){asm.DotTile1F64AVX512, asm.DotTile2F64AVX512, asm.DotTile3F64AVX512}}
)

func dots64AVX2(dst, a, b Rows[float64], na, nb, d int) { dots64OfAVX2.run(dst, a, b, na, nb, d) }

func dots64AVX512(dst, a, b Rows[float64], na, nb, d int) { dots64OfAVX512.run(dst, a, b, na, nb, d) }

const (
	// dots64Columns columns of a panel of b are 24 KiB and stay in the first-level
	// cache while the packed rows of a go by.
	dots64Columns = 128
	// dots64Columns columns of dots64Rows rows of a are 256 KiB, in the second-level cache.
	dots64Rows = 256
	// dots64Panel is the number of rows of b in a panel.
	dots64Panel = 24
)

// dots64Scratch is the memory into which a call packs rows.
type dots64Scratch struct {
	a    [dots64Rows * dots64Columns]float64
	b    [dots64Panel * dots64Columns]float64
	tile [8 * dots64Panel]float64 // a tile that dst has no room for
}

// dots64Free holds the scratch memory that no call uses. A sync.Pool would lose them to
// the garbage collector, and steps would allocate.
var dots64Free = make(chan *dots64Scratch, 64)

func takeDots64Scratch() *dots64Scratch {
	select {
	case s := <-dots64Free:
		return s
	default:
		return new(dots64Scratch)
	}
}

func giveDots64Scratch(s *dots64Scratch) {
	select {
	case dots64Free <- s:
	default: // too many concurrent callers to keep memory for all
	}
}

// run takes the columns in pieces. A sum continues from piece to piece in dst, so its
// bits do not depend on where pieces end.
func (k *dots64Kernels) run(dst, a, b Rows[float64], na, nb, d int) {
	if d == 0 {
		for i := range na {
			clear(dst.row(i, nb))
		}
		return
	}
	s := takeDots64Scratch()
	defer giveDots64Scratch(s)
	for c := 0; c < d; c += dots64Columns {
		columns := min(dots64Columns, d-c)
		for i := 0; i < na; i += dots64Rows {
			rows := min(dots64Rows, na-i)
			for r := 0; r < rows; r += k.lanes {
				k.packed(s.a[r*columns:], k.lanes, Rows[float64]{a.Data[(i+r)*a.Stride+c:], a.Stride}, min(k.lanes, rows-r), columns)
			}
			for j := 0; j < nb; j += 3 * k.lanes {
				k.panel(s, Rows[float64]{dst.Data[i*dst.Stride+j:], dst.Stride}, rows, Rows[float64]{b.Data[j*b.Stride+c:], b.Stride}, min(3*k.lanes, nb-j), columns, c > 0)
			}
		}
	}
}

// packed packs up to as many rows as a tile has, with zeros for missing rows. Their
// column c begins at dst[c*width].
func (k *dots64Kernels) packed(dst []float64, width int, from Rows[float64], rows, columns int) {
	done := 0
	if blocks := columns / k.lanes; rows == k.lanes && blocks > 0 {
		k.pack(&dst[0], uintptr(width), &from.Data[0], uintptr(from.Stride), uintptr(blocks))
		done = blocks * k.lanes
	}
	for c := done; c < columns; c++ {
		column := dst[c*width:][:k.lanes]
		clear(column)
		for r := range rows {
			column[r] = from.Data[r*from.Stride+c]
		}
	}
}

// panel multiplies the packed rows of a with up to three tiles of rows of b.
func (k *dots64Kernels) panel(s *dots64Scratch, dst Rows[float64], na int, b Rows[float64], nb, columns int, add bool) {
	vectors := (nb + k.lanes - 1) / k.lanes
	width := vectors * k.lanes
	for v := 0; v < width; v += k.lanes {
		k.packed(s.b[v:], width, b.from(v), min(k.lanes, nb-v), columns)
	}
	goOn := uintptr(0)
	if add {
		goOn = 1
	}
	for i := 0; i < na; i += k.lanes {
		rows := min(k.lanes, na-i)
		if rows == k.lanes && nb == width {
			k.tiles[vectors-1](&dst.Data[i*dst.Stride], uintptr(dst.Stride), &s.a[i*columns], &s.b[0], uintptr(columns), goOn)
			continue
		}
		tile := Rows[float64]{s.tile[:], width}
		for r := range rows {
			copy(tile.row(r, nb), dst.row(i+r, nb))
		}
		k.tiles[vectors-1](&s.tile[0], uintptr(width), &s.a[i*columns], &s.b[0], uintptr(columns), goOn)
		for r := range rows {
			copy(dst.row(i+r, nb), tile.row(r, nb))
		}
	}
}
