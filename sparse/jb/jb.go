// Package jb converts matrices of package sparse to and from those of
// github.com/james-bowman/sparse. It is a separate package so that only programs that
// convert link that module.
//
//	theirs := jb.Export(a)         // a *sparse.CSR
//	ours, err := jb.Import(theirs) // and back
package jb

import (
	"fmt"

	jbsparse "github.com/james-bowman/sparse"

	"github.com/seed-64e14a55/privatemail/sparse"
)

// Export returns a copy of a as a matrix of james-bowman/sparse.
func Export(a *sparse.CSR) *jbsparse.CSR {
	ptr := make([]int, a.Rows()+1)
	ind := make([]int, 0, a.NNZ())
	val := make([]float64, 0, a.NNZ())
	var buffer sparse.RowBuffer
	for i := range a.Rows() {
		columns, values := a.Row(i, &buffer)
		for e, j := range columns {
			ind, val = append(ind, int(j)), append(val, float64(values[e]))
		}
		ptr[i+1] = len(ind)
	}
	return jbsparse.NewCSR(a.Rows(), a.Cols(), ptr, ind, val)
}

// Import returns a copy of a matrix of james-bowman/sparse, with its values rounded to
// float32. The columns of a row of m may come in any order, and values of repeated
// columns are added. Errors: sparse.ErrStructure for arrays that do not describe a
// matrix, and those of sparse.FromTriplets.
func Import(m *jbsparse.CSR) (*sparse.CSR, error) {
	raw := m.RawMatrix()
	row := make([]uint32, 0, len(raw.Ind))
	col := make([]uint32, 0, len(raw.Ind))
	if len(raw.Indptr) != raw.I+1 || len(raw.Ind) != len(raw.Data) {
		return nil, fmt.Errorf("jb: %w: %d row pointers for %d rows, %d columns, %d values", sparse.ErrStructure, len(raw.Indptr), raw.I, len(raw.Ind), len(raw.Data))
	}
	for i := range raw.I {
		if raw.Indptr[0] != 0 || raw.Indptr[i] > raw.Indptr[i+1] || raw.Indptr[i+1] > len(raw.Ind) {
			return nil, fmt.Errorf("jb: %w: row %d", sparse.ErrStructure, i+1)
		}
		for _, j := range raw.Ind[raw.Indptr[i]:raw.Indptr[i+1]] {
			if j < 0 || j >= raw.J {
				return nil, fmt.Errorf("jb: %w: row %d has column %d of %d", sparse.ErrStructure, i+1, j+1, raw.J)
			}
			row, col = append(row, uint32(i)), append(col, uint32(j))
		}
	}
	return sparse.FromTriplets(raw.I, raw.J, row, col, raw.Data[:len(row)])
}
