//go:build gc && !noasm && !purego

package simd

func tableOf(level Level) *Kernels { return &tables[level] }

var tables = [...]Kernels{
	Generic: genericKernels,
	AVX2: {
		level:       AVX2,
		sumRows:     sumRowsAVX2,
		finite:      finiteAVX2,
		widen:       widenAVX2,
		mulRowsF32:  mulRowsF32AVX2,
		mulOffsets:  mulOffsetsAVX2,
		pack:        packGo,
		singles:     singlesOfAVX2,
		expNeg:      expNegAVX2,
		weights:     weightsAVX2,
		collect:     collectAVX2,
		near:        nearAVX2,
		countNear:   countNearAVX2,
		slide:       slideGo,
		finishRows:  finishRowsAVX2,
		mulTrans:    mulTransAVX2,
		centre:      centreAVX2,
		centredSums: centredSumsAVX2,
		centredDots: centredDotsAVX2,
		dots:        dotsAVX2,
		sqDistsTo:   sqDistsToAVX2,
		wideDistsTo: wideDistsToAVX2,
		addRows:     addRowsAVX2,
		lagrange:    lagrangeAVX2,
		toNodes:     toNodesAVX2,
		fromNodes:   fromNodesAVX2,
		above8:      above8AVX2,
		round8:      round8AVX2,
	},
	AVX512:     avx512Kernels,
	AVX512VNNI: avx512Kernels.with(AVX512VNNI, above8AVX512VNNI),
	AMX:        avx512Kernels.with(AMX, above8AMX),
}

var avx512Kernels = Kernels{
	level:        AVX512,
	sumRows:      sumRowsAVX2,
	finite:       finiteAVX2,
	widen:        widenAVX2,
	mulRowsF32:   mulRowsF32AVX512,
	mulOffsets:   mulOffsetsAVX512,
	mulOffsets16: mulOffsets16AVX512,
	pack:         packRowsAVX512,
	singles:      singlesOfAVX512,
	expNeg:       expNegAVX512,
	weights:      weightsAVX512,
	collect:      collectAVX512,
	near:         nearAVX512,
	countNear:    countNearAVX512,
	slide:        slideWindowsAVX512,
	finishRows:   finishRowsAVX512,
	mulTrans:     mulTransAVX512,
	centre:       centreAVX512,
	centredSums:  centredSumsAVX512,
	centredDots:  centredDotsAVX512,
	dots:         dotsAVX512,
	sqDistsTo:    sqDistsToAVX512,
	wideDistsTo:  wideDistsToAVX512,
	addRows:      addRowsAVX512,
	lagrange:     lagrangeAVX512,
	toNodes:      toNodesAVX512,
	fromNodes:    fromNodesAVX512,
	above8:       above8AVX512,
	round8:       round8AVX512,
}

// with returns the kernels of a level that has but one of its own.
func (s Kernels) with(level Level, above8 func(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32)) Kernels {
	s.level, s.above8 = level, above8
	return s
}
