package sparse

// Chunks returns the number of chunks the rows are split into.
func (a *CSR) Chunks() int { return len(a.parts) }

// Chunk returns the half-open range of rows of chunk c.
func (a *CSR) Chunk(c int) (lo, hi int) { return a.parts[c].lo, a.parts[c].hi }
