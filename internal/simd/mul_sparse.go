package simd

// MulSparse multiplies a run of rows of a compressed sparse matrix with the first k columns
// of x:
//
//	dst[r][c] = sum over p from ptr[r] to ptr[r+1]-1 of val[p] x[ind[p]][c]
//
// for r from 0 to len(ptr)-2 and c < k, where [r][c] is number c of row r. ptr is the run's
// piece of the row pointers, one longer than the run; it points into the whole of ind and
// val.
//
// Products are rounded to float32, v = val x, and added in blocks of 32 entries of a row,
// the last of which may be shorter. Four entries at a time, in stored order, are added to
// two sums of the block, in float32. At the end of the block these are added to the sum of
// the row:
//
//	even += v0 + v2,   odd += v1 + v3,   sum += float64(even + odd).
//
// The sum is rounded to float32 at the end. Before that its error is at most 10.1 2^-24
// times the sum of |val x|, in rows of up to 2^30 entries, and 2^-150 more for each product
// below the range of float32: a product is rounded, and then takes part in 9 additions of
// float32 at most, v0 + v2, 7 to the sum of its block (the first is to zero, and exact) and
// even + odd; (1 + 2^-24)^10 is less than 1 + 10.01 2^-24, and 2^25 additions of float64
// make up for less than 0.07 2^-24. Sums of float32 do not underflow. The result has the
// same bits at every level, for any k, and however the rows are split into runs.
//
// The row pointers must ascend, and x must have a row for every column. MulSparse does not
// check this: the matrix was checked when it was made. MulSparse panics where the ends of
// slices do not fit. dst must not overlap x. MulSparse allocates nothing, and is safe for
// concurrent use on runs that write different rows.
func (s *Kernels) MulSparse(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	if checkMulSparse(dst, k, ptr, len(ind), len(val), x) {
		reads(ind[ptr[0]:ptr[len(ptr)-1]])
		reads(val[ptr[0]:ptr[len(ptr)-1]])
		writes(dst.span(len(ptr)-1, k))
		s.mulSparse(dst, k, ptr, ind, val, x)
	}
}

// checkMulSparse panics where a slice is too short and reports whether there is
// anything to do.
func checkMulSparse(dst Rows[float32], k int, ptr []uint64, ind, val int, x Rows[float32]) bool {
	rows := len(ptr) - 1
	switch {
	case k < 0 || x.Stride < k || dst.Stride < k:
		panic("simd: mul sparse: bad stride")
	case rows <= 0 || k == 0:
		return false
	case !dst.holds(rows, k):
		panic("simd: mul sparse: short destination")
	case ptr[0] > ptr[rows] || ptr[rows] > uint64(min(ind, val)):
		panic("simd: mul sparse: row pointers beyond the entries")
	case ptr[0] < ptr[rows] && len(x.Data) < k:
		panic("simd: mul sparse: short x")
	}
	return true
}

// mulSparseGo is the reference.
func mulSparseGo(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	for r, hi := range ptr[1:] {
		mulSparseRowGo(dst.row(r, k), ind[ptr[r]:hi], val[ptr[r]:hi], x.Data, x.Stride)
	}
}

// mulSparseRowGo computes a row whose columns may be offsets into a piece of x.
func mulSparseRowGo[I column](out []float32, ind []I, val, x []float32, stride int) {
	c := 0
	for ; c+8 <= len(out); c += 8 {
		mulBlocks8Go((*[8]float32)(out[c:]), ind, val, x[min(c, len(x)):], stride)
	}
	for ; c+2 <= len(out); c += 2 {
		mulBlocks2Go((*[2]float32)(out[c:]), ind, val, x[min(c, len(x)):], stride)
	}
	if c < len(out) {
		out[c] = mulBlocks1Go(ind, val, x[min(c, len(x)):], stride)
	}
}

// A column is a column of a matrix, or its offset from the base of a row.
type column interface{ uint16 | uint32 }

// sumBlock is the number of entries of a row that are added in float32.
const sumBlock = 32

// The functions named Blocks compute as many columns of a row as their names say; those
// named Block compute the sums of one block. The conversions around products prevent the
// compiler from fusing them.

func mulBlocks8Go[I column](out *[8]float32, ind []I, val, x []float32, stride int) {
	var sum [8]float64
	for len(ind) > 0 {
		n := min(sumBlock, len(ind))
		var even, odd [8]float32
		addBlock8Go(&even, &odd, ind[:n], val[:n], x, stride)
		for c := range sum {
			sum[c] += float64(even[c] + odd[c])
		}
		ind, val = ind[n:], val[n:]
	}
	for c, v := range sum {
		out[c] = float32(v)
	}
}

func mulBlocks2Go[I column](out *[2]float32, ind []I, val, x []float32, stride int) {
	var a, b float64
	for len(ind) > 0 {
		n := min(sumBlock, len(ind))
		s, t := addBlock2Go(ind[:n], val[:n], x, stride)
		a, b = a+float64(s), b+float64(t)
		ind, val = ind[n:], val[n:]
	}
	out[0], out[1] = float32(a), float32(b)
}

func mulBlocks1Go[I column](ind []I, val, x []float32, stride int) float32 {
	sum := 0.0
	for len(ind) > 0 {
		n := min(sumBlock, len(ind))
		sum += float64(addBlock1Go(ind[:n], val[:n], x, stride))
		ind, val = ind[n:], val[n:]
	}
	return float32(sum)
}

func addBlock8Go[I column](even, odd *[8]float32, ind []I, val, x []float32, stride int) {
	val = val[:len(ind)]
	p := 0
	for ; p+4 <= len(ind); p += 4 {
		j, w := (*[4]I)(ind[p:]), (*[4]float32)(val[p:])
		x0, x1 := (*[8]float32)(x[int(j[0])*stride:]), (*[8]float32)(x[int(j[1])*stride:])
		x2, x3 := (*[8]float32)(x[int(j[2])*stride:]), (*[8]float32)(x[int(j[3])*stride:])
		for c := range even {
			even[c] += float32(w[0]*x0[c]) + float32(w[2]*x2[c])
			odd[c] += float32(w[1]*x1[c]) + float32(w[3]*x3[c])
		}
	}
	if p < len(ind) {
		var last [2][8]float32
		for e := 0; p < len(ind); e, p = e^1, p+1 {
			w, row := val[p], (*[8]float32)(x[int(ind[p])*stride:])
			for c := range even {
				last[e][c] += float32(w * row[c])
			}
		}
		for c := range even {
			even[c] += last[0][c]
			odd[c] += last[1][c]
		}
	}
}

func addBlock2Go[I column](ind []I, val, x []float32, stride int) (float32, float32) {
	var even, odd, last [2]float32
	val = val[:len(ind)]
	p := 0
	for ; p+4 <= len(ind); p += 4 {
		j, w := (*[4]I)(ind[p:]), (*[4]float32)(val[p:])
		x0, x1 := (*[2]float32)(x[int(j[0])*stride:]), (*[2]float32)(x[int(j[1])*stride:])
		x2, x3 := (*[2]float32)(x[int(j[2])*stride:]), (*[2]float32)(x[int(j[3])*stride:])
		even[0] += float32(w[0]*x0[0]) + float32(w[2]*x2[0])
		even[1] += float32(w[0]*x0[1]) + float32(w[2]*x2[1])
		odd[0] += float32(w[1]*x1[0]) + float32(w[3]*x3[0])
		odd[1] += float32(w[1]*x1[1]) + float32(w[3]*x3[1])
	}
	for e := p; e < len(ind); e += 2 {
		row := (*[2]float32)(x[int(ind[e])*stride:])
		last[0] += float32(val[e] * row[0])
		last[1] += float32(val[e] * row[1])
	}
	if e := p + 1; e < len(ind) {
		row := (*[2]float32)(x[int(ind[e])*stride:])
		odd[0] += float32(val[e] * row[0])
		odd[1] += float32(val[e] * row[1])
	}
	return (even[0] + last[0]) + odd[0], (even[1] + last[1]) + odd[1]
}

func addBlock1Go[I column](ind []I, val, x []float32, stride int) float32 {
	var even, odd, last float32
	val = val[:len(ind)]
	p := 0
	for ; p+4 <= len(ind); p += 4 {
		j, w := (*[4]I)(ind[p:]), (*[4]float32)(val[p:])
		even += float32(w[0]*x[int(j[0])*stride]) + float32(w[2]*x[int(j[2])*stride])
		odd += float32(w[1]*x[int(j[1])*stride]) + float32(w[3]*x[int(j[3])*stride])
	}
	for e := p; e < len(ind); e += 2 {
		last += float32(val[e] * x[int(ind[e])*stride])
	}
	if e := p + 1; e < len(ind) {
		odd += float32(val[e] * x[int(ind[e])*stride])
	}
	return (even + last) + odd
}
