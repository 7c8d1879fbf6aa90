package cells

// boxes are bounding boxes of the clusters of a cell list, in all dimensions. A search
// passes over clusters whose boxes are farther apart than the radius. Boxes prune along
// the axes without a grid, and within cells that hold many points.
type boxes struct {
	d      int
	lo, hi []float32 // corners of each box
	of     []uint32  // the cluster that holds the first point of each cell, and the end
}

// distance2 returns a number that is at most the squared distance, as simd.FindNear
// computes it, of any point of cluster i from any point of cluster j: rounding is
// monotone, so the same operations on smaller differences give a smaller or equal
// result.
func (b *boxes) distance2(i, j int) float64 {
	sum := 0.0
	d := b.d
	alo, ahi, blo, bhi := b.lo[i*d:][:d], b.hi[i*d:][:d], b.lo[j*d:][:d], b.hi[j*d:][:d]
	for a := range alo {
		if gap := max(float64(blo[a])-float64(ahi[a]), float64(alo[a])-float64(bhi[a])); gap > 0 {
			sum += float64(gap * gap)
		}
	}
	return sum
}
