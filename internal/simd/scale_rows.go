package simd

import "math"

// LargestDifference returns the largest |x[c] - mean[c]|, differences rounded to float64, and 0
// where there are no columns. The numbers given must be finite.
//
// mean has as many columns as x, otherwise LargestDifference panics. It allocates nothing.
func (s *Kernels) LargestDifference(x []float32, mean []float64) float64 {
	if len(mean) != len(x) {
		panic("simd: largest difference: bad shape")
	}
	reads(x)
	reads(mean)
	return s.largestDifference(x, mean)
}

// largestDifferenceGo is the reference.
func largestDifferenceGo(x []float32, mean []float64) float64 {
	// Of finite numbers without signs the largest has the largest bits, which processors
	// compare faster.
	const sign = 1 << 63
	var most uint64
	mean = mean[:len(x)]
	for c, v := range x {
		most = max(most, math.Float64bits(float64(v)-mean[c])&^sign)
	}
	return math.Float64frombits(most)
}

// ScaleDifferences sets dst[c] to (x[c] - mean[c]) * scale. The difference and the product are
// rounded to float64, and the product once more to float32.
//
// dst and mean have as many columns as x, otherwise ScaleDifferences panics. dst may be x. It
// allocates nothing.
func (s *Kernels) ScaleDifferences(dst, x []float32, mean []float64, scale float64) {
	if len(dst) != len(x) || len(mean) != len(x) {
		panic("simd: scale differences: bad shape")
	}
	reads(x)
	reads(mean)
	writes(dst)
	s.scaleDifferences(dst, x, mean, scale)
}

// scaleDifferencesGo is the reference.
func scaleDifferencesGo(dst, x []float32, mean []float64, scale float64) {
	dst, mean = dst[:len(x)], mean[:len(x)]
	for c, v := range x {
		dst[c] = float32((float64(v) - mean[c]) * scale)
	}
}

// ScaleProducts sets dst[c] to x[c] * scale * columns[c]. Both products are rounded to float64, and
// the second once more to float32. An x[c] of -0 counts as 0, as in a sum of products, which begins
// with 0.
//
// dst and columns have as many columns as x, otherwise ScaleProducts panics. dst may be x. It
// allocates nothing.
func (s *Kernels) ScaleProducts(dst, x []float32, scale float64, columns []float64) {
	if len(dst) != len(x) || len(columns) != len(x) {
		panic("simd: scale products: bad shape")
	}
	reads(x)
	reads(columns)
	writes(dst)
	s.scaleProducts(dst, x, scale, columns)
}

// scaleProductsGo is the reference.
func scaleProductsGo(dst, x []float32, scale float64, columns []float64) {
	dst, columns = dst[:len(x)], columns[:len(x)]
	for c, v := range x {
		dst[c] = float32((float64(v) + 0) * scale * columns[c])
	}
}

// ScaleRow sets dst[c] to x[c] * scale, rounded to float64 and once more to float32.
//
// dst has as many columns as x, otherwise ScaleRow panics. dst may be x. It allocates nothing.
func (s *Kernels) ScaleRow(dst, x []float32, scale float64) {
	if len(dst) != len(x) {
		panic("simd: scale row: bad shape")
	}
	reads(x)
	writes(dst)
	s.scaleRow(dst, x, scale)
}

// scaleRowGo is the reference.
func scaleRowGo(dst, x []float32, scale float64) {
	dst = dst[:len(x)]
	for c, v := range x {
		dst[c] = float32(float64(v) * scale)
	}
}
