package formats

import "testing"

type threeArrays struct{ CSR }

func (m *threeArrays) Dims() (rows, cols int)                  { return m.Rows, m.Cols }
func (m *threeArrays) Arrays() ([]uint64, []uint32, []float32) { return m.Ptr, m.Ind, m.Val }

// A matrix of arrays has these arrays, and no copies.
func TestCSROf(t *testing.T) {
	m := &threeArrays{CSR{Rows: 2, Cols: 3, Ptr: []uint64{0, 1, 2}, Ind: []uint32{2, 0}, Val: []float32{1, 2}}}
	c := CSROf(m)
	if c.Rows != 2 || c.Cols != 3 || &c.Ptr[0] != &m.Ptr[0] || &c.Ind[0] != &m.Ind[0] || &c.Val[0] != &m.Val[0] {
		t.Errorf("got %+v", c)
	}
}
