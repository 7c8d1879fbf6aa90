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
// Products are rounded to float32 and added four at a time, in stored order:
//
//	sum += float64((v0 + v1) + (v2 + v3)),   v = val x in float32.
//
// The sum is rounded to float32 at the end. Before that its error is at most 3.1 2^-24
// times the sum of |val x|, however long the row is, and 2^-150 more for each product below
// the range of float32. The result has the same bits at every level, for any k, and
// however the rows are split into runs.
//
// The row pointers must ascend, and x must have a row for every column. MulSparse does not
// check that: the matrix was checked when it was made. It panics where the ends of slices
// do not fit. dst must not overlap x. MulSparse allocates nothing, and is safe for
// concurrent use on runs that write different rows.
func (s *Kernels) MulSparse(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32]) {
	if checkMulSparse(dst, k, ptr, len(ind), len(val), x) {
		reads(ind[ptr[0]:ptr[len(ptr)-1]])
		reads(val[ptr[0]:ptr[len(ptr)-1]])
		writes(dst.span(len(ptr)-1, k))
		s.mulSparse(dst, k, ptr, ind, val, x)
	}
}

// checkMulSparse panics where a slice is too short and tells whether there is
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
		mulFours8Go((*[8]float32)(out[c:]), ind, val, x[min(c, len(x)):], stride)
	}
	for ; c+2 <= len(out); c += 2 {
		mulFours2Go((*[2]float32)(out[c:]), ind, val, x[min(c, len(x)):], stride)
	}
	if c < len(out) {
		out[c] = mulFours1Go(ind, val, x[min(c, len(x)):], stride)
	}
}

// A column is a column of a matrix, or its offset from the base of a row.
type column interface{ uint16 | uint32 }

// The functions named Fours add four products at a time, for as many columns as their
// names say. The conversions around products keep the compiler from fusing them.

func mulFours8Go[I column](out *[8]float32, ind []I, val, x []float32, stride int) {
	var sum [8]float64
	addFours8Go(&sum, ind, val, x, stride)
	for c, v := range sum {
		out[c] = float32(v)
	}
}

func mulFours2Go[I column](out *[2]float32, ind []I, val, x []float32, stride int) {
	var sum [2]float64
	addFours2Go(&sum, ind, val, x, stride)
	out[0], out[1] = float32(sum[0]), float32(sum[1])
}

func mulFours1Go[I column](ind []I, val, x []float32, stride int) float32 {
	return float32(addFours1Go(0, ind, val, x, stride))
}

func addFours8Go[I column](sum *[8]float64, ind []I, val, x []float32, stride int) {
	val = val[:len(ind)]
	p := 0
	for ; p+4 <= len(ind); p += 4 {
		j, w := (*[4]I)(ind[p:]), (*[4]float32)(val[p:])
		x0, x1 := (*[8]float32)(x[int(j[0])*stride:]), (*[8]float32)(x[int(j[1])*stride:])
		x2, x3 := (*[8]float32)(x[int(j[2])*stride:]), (*[8]float32)(x[int(j[3])*stride:])
		for c := range sum {
			sum[c] += float64((float32(w[0]*x0[c]) + float32(w[1]*x1[c])) + (float32(w[2]*x2[c]) + float32(w[3]*x3[c])))
		}
	}
	if p < len(ind) {
		var part [8]float32
		for ; p < len(ind); p++ {
			w, row := val[p], (*[8]float32)(x[int(ind[p])*stride:])
			for c := range part {
				part[c] += float32(w * row[c])
			}
		}
		for c := range sum {
			sum[c] += float64(part[c])
		}
	}
}

func addFours2Go[I column](sum *[2]float64, ind []I, val, x []float32, stride int) {
	a, b := sum[0], sum[1]
	val = val[:len(ind)]
	p := 0
	for ; p+4 <= len(ind); p += 4 {
		j, w := (*[4]I)(ind[p:]), (*[4]float32)(val[p:])
		x0, x1 := (*[2]float32)(x[int(j[0])*stride:]), (*[2]float32)(x[int(j[1])*stride:])
		x2, x3 := (*[2]float32)(x[int(j[2])*stride:]), (*[2]float32)(x[int(j[3])*stride:])
		a += float64((float32(w[0]*x0[0]) + float32(w[1]*x1[0])) + (float32(w[2]*x2[0]) + float32(w[3]*x3[0])))
		b += float64((float32(w[0]*x0[1]) + float32(w[1]*x1[1])) + (float32(w[2]*x2[1]) + float32(w[3]*x3[1])))
	}
	var s, t float32
	for ; p < len(ind); p++ {
		row := (*[2]float32)(x[int(ind[p])*stride:])
		s += float32(val[p] * row[0])
		t += float32(val[p] * row[1])
	}
	sum[0], sum[1] = a+float64(s), b+float64(t)
}

func addFours1Go[I column](sum float64, ind []I, val, x []float32, stride int) float64 {
	val = val[:len(ind)]
	p := 0
	for ; p+4 <= len(ind); p += 4 {
		j, w := (*[4]I)(ind[p:]), (*[4]float32)(val[p:])
		sum += float64((float32(w[0]*x[int(j[0])*stride]) + float32(w[1]*x[int(j[1])*stride])) +
			(float32(w[2]*x[int(j[2])*stride]) + float32(w[3]*x[int(j[3])*stride])))
	}
	var s float32
	for ; p < len(ind); p++ {
		s += float32(val[p] * x[int(ind[p])*stride])
	}
	return sum + float64(s)
}
