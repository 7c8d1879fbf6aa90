package formats

// CSROf returns a matrix for WriteCSR with the arrays of m, a sparse matrix such as a
// *sparse.CSR. It copies nothing that m.Arrays does not copy.
func CSROf(m interface {
	Dims() (rows, cols int)
	Arrays() (ptr []uint64, ind []uint32, val []float32)
}) *CSR {
	c := new(CSR)
	c.Rows, c.Cols = m.Dims()
	c.Ptr, c.Ind, c.Val = m.Arrays()
	return c
}
