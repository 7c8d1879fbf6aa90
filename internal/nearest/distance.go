package nearest

// panelRows is the number of gallery rows that are compared at a time.
const panelRows = 4

// squaredDistances returns the squared Euclidean distances of two queries from
// the four rows of a panel, those of a first:
//
//	s[r] = sum_j (a[j] - panel[4j+r])^2,  s[4+r] = sum_j (b[j] - panel[4j+r])^2
//
// Each sum runs from the first coordinate to the last in its own register. An addition
// has to wait about four cycles for the one before it; eight independent sums fill that
// time, and a loaded coordinate is used for two or four of them. The conversions
// prevent fused products, so that all architectures give the same bits.
func squaredDistances(a, b, panel []float64) [2 * panelRows]float64 {
	b = b[:len(a)]
	var a0, a1, a2, a3, b0, b1, b2, b3 float64
	for j, x := range a {
		y := b[j]
		p := (*[panelRows]float64)(panel[panelRows*j:])
		t := x - p[0]
		a0 += float64(t * t)
		t = x - p[1]
		a1 += float64(t * t)
		t = x - p[2]
		a2 += float64(t * t)
		t = x - p[3]
		a3 += float64(t * t)
		t = y - p[0]
		b0 += float64(t * t)
		t = y - p[1]
		b1 += float64(t * t)
		t = y - p[2]
		b2 += float64(t * t)
		t = y - p[3]
		b3 += float64(t * t)
	}
	return [...]float64{a0, a1, a2, a3, b0, b1, b2, b3}
}

// fourDistances returns the same sums for one query and four rows that are not packed, for
// few rows that are not worth packing.
func fourDistances[T float32 | float64](query []float64, data []T, stride int, rows [panelRows]int) [panelRows]float64 {
	of := func(r int) []T { return data[rows[r]*stride:][:len(query)] }
	p0, p1, p2, p3 := of(0), of(1), of(2), of(3)
	var s0, s1, s2, s3 float64
	for j, x := range query {
		t := x - float64(p0[j])
		s0 += float64(t * t)
		t = x - float64(p1[j])
		s1 += float64(t * t)
		t = x - float64(p2[j])
		s2 += float64(t * t)
		t = x - float64(p3[j])
		s3 += float64(t * t)
	}
	return [...]float64{s0, s1, s2, s3}
}
