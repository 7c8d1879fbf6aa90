package sparse

import (
	"fmt"

	jbsparse "github.com/james-bowman/sparse"
)

// ToJB returns a copy as a matrix of james-bowman/sparse.
func (a *CSR) ToJB() *jbsparse.CSR {
	ptr := make([]int, a.rows+1)
	ind := make([]int, 0, a.NNZ())
	val := make([]float64, 0, a.NNZ())
	var buffer RowBuffer
	for i := range a.rows {
		columns, values := a.Row(i, &buffer)
		for e, j := range columns {
			ind, val = append(ind, int(j)), append(val, float64(values[e]))
		}
		ptr[i+1] = len(ind)
	}
	return jbsparse.NewCSR(a.rows, a.cols, ptr, ind, val)
}

// FromJB returns a copy of a matrix of james-bowman/sparse, values rounded to
// float32. Its rows may be unsorted and may repeat columns, which are added.
func FromJB(m *jbsparse.CSR) (*CSR, error) {
	raw := m.RawMatrix()
	row := make([]uint32, 0, len(raw.Ind))
	col := make([]uint32, 0, len(raw.Ind))
	if len(raw.Indptr) != raw.I+1 || len(raw.Ind) != len(raw.Data) {
		return nil, fmt.Errorf("sparse: from james-bowman/sparse: %w: %d row pointers for %d rows, %d columns, %d values", ErrStructure, len(raw.Indptr), raw.I, len(raw.Ind), len(raw.Data))
	}
	for i := range raw.I {
		if raw.Indptr[0] != 0 || raw.Indptr[i] > raw.Indptr[i+1] || raw.Indptr[i+1] > len(raw.Ind) {
			return nil, fmt.Errorf("sparse: from james-bowman/sparse: %w: row %d", ErrStructure, i)
		}
		for _, j := range raw.Ind[raw.Indptr[i]:raw.Indptr[i+1]] {
			if j < 0 || j >= raw.J {
				return nil, fmt.Errorf("sparse: from james-bowman/sparse: %w: row %d has column %d of %d", ErrStructure, i, j, raw.J)
			}
			row, col = append(row, uint32(i)), append(col, uint32(j))
		}
	}
	return FromTriplets(raw.I, raw.J, row, col, raw.Data[:len(row)])
}
