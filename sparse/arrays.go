package sparse

// Arrays returns the matrix as the arrays that New takes: row i has the entries ptr[i] to
// ptr[i+1]-1 of ind and val, columns ascending. The caller must not change them. A matrix
// of New, or of Adopt in layout Plain, returns its own arrays. Any other matrix, such as
// one of AdoptShared or in a compact layout, returns copies, which take 8 bytes an entry
// and 8 a row. Arrays panics where ranks share the matrix: call Whole first.
func (a *CSR) Arrays() (ptr []uint64, ind []uint32, val []float32) {
	if a.rows == 0 {
		return []uint64{0}, nil, nil
	}
	if ptr, ind, val, ok := a.common(); ok {
		return ptr, ind, val
	}
	ptr, ind, val = make([]uint64, a.rows+1), make([]uint32, 0, a.nnz), make([]float32, 0, a.nnz)
	var buffer RowBuffer
	for i := range a.rows {
		columns, values := a.Row(i, &buffer)
		ind, val = append(ind, columns...), append(val, values...)
		ptr[i+1] = uint64(len(ind))
	}
	return ptr, ind, val
}

// common returns the arrays that all parts share, if there are any.
func (a *CSR) common() (ptr []uint64, ind []uint32, val []float32, ok bool) {
	if a.share != nil || a.Layout() != Plain || cap(a.parts[0].ptr) < a.rows+1 {
		return nil, nil, nil, false
	}
	last := &a.parts[len(a.parts)-1]
	ptr, ind, val = a.parts[0].ptr[:a.rows+1], last.ind, last.val
	for c := range a.parts {
		p := &a.parts[c]
		if &p.ptr[0] != &ptr[p.lo] || a.nnz > 0 && (len(p.ind) == 0 || &p.ind[0] != &ind[0] || &p.val[0] != &val[0]) {
			return nil, nil, nil, false
		}
	}
	if ptr[0] != 0 || len(ind) < a.nnz || len(val) < a.nnz {
		return nil, nil, nil, false
	}
	return ptr, ind[:a.nnz:a.nnz], val[:a.nnz:a.nnz], true
}
