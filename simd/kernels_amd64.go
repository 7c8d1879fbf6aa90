//go:build gc && !noasm && !purego

package simd

func tableOf(level Level) *Kernels { return &tables[level] }

var tables = [...]Kernels{
	Generic: genericKernels,
	AVX2: {
		level:       AVX2,
		mulRows:     mulRowsAVX2,
		mulRowsF32:  mulRowsF32AVX2,
		columns:     columnsAtAVX2,
		singles:     singlesOfAVX2,
		expNeg:      expNegAVX2,
		weights:     weightsAVX2,
		collect:     collectAVX2,
		near:        nearAVX2,
		countNear:   countNearAVX2,
		countSingle: countSingleAVX2,
		finishRows:  finishRowsAVX2,
		dots:        dotsAVX2,
		sqDists:     sqDistsAVX2,
	},
	AVX512: {
		level:       AVX512,
		mulRows:     mulRowsAVX512,
		mulRowsF32:  mulRowsF32AVX512,
		columns:     columnsAtAVX512,
		singles:     singlesOfAVX512,
		expNeg:      expNegAVX512,
		weights:     weightsAVX512,
		collect:     collectAVX512,
		near:        nearAVX512,
		countNear:   countNearAVX512,
		countSingle: countSingleAVX512,
		finishRows:  finishRowsAVX2,
		dots:        dotsAVX512,
		sqDists:     sqDistsAVX512,
	},
	AVX512VNNI: {
		level:       AVX512VNNI,
		mulRows:     mulRowsAVX512,
		mulRowsF32:  mulRowsF32AVX512,
		columns:     columnsAtAVX512,
		singles:     singlesOfAVX512,
		expNeg:      expNegAVX512,
		weights:     weightsAVX512,
		collect:     collectAVX512,
		near:        nearAVX512,
		countNear:   countNearAVX512,
		countSingle: countSingleAVX512,
		finishRows:  finishRowsAVX2,
		dots:        dotsAVX512,
		sqDists:     sqDistsAVX512,
	},
}
