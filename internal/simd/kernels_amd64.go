//go:build gc && !noasm && !purego

package simd

// tableOf returns the kernels of a level, with gathers or without where it has both.
// Functions whose names end in that of a level hand their arguments to its assembly.
func tableOf(level Level, gather bool) *Kernels {
	if level.gathers() && !gather {
		return &tablesOfLoads[level]
	}
	return &tables[level]
}

var tables = [...]Kernels{
	Generic: genericKernels,
	AVX2: {
		level:               AVX2,
		sumSparse:           sumSparseAVX2,
		finite:              finiteAVX2,
		growBox:             growBoxAVX2,
		mulSparse:           mulSparseAVX2,
		mulSparseOffsets:    mulSparseOffsetsAVX2,
		mulSparseOffsets16:  mulSparseOffsets16AVX2,
		packColumns:         packColumnsGo,
		float32s:            float32sAVX2,
		expNeg:              expNegAVX2,
		weights:             weightsAVX2,
		collect:             collectAVX2,
		findNear:            findNearAVX2,
		countNear:           countNearAVX2,
		findInBlocks:        findInBlocksAVX2,
		ranks:               ranksAVX2,
		slideWindows:        slideWindowsGo,
		finishStep:          finishStepAVX2,
		mulTrans:            mulTransAVX2,
		centre:              centreAVX2,
		centredMulTrans:     centredMulTransAVX2,
		centredDots:         centredDotsAVX2,
		dots:                dotsAVX2,
		dots64:              dots64AVX2,
		dotsToSqDists64:     dotsToSqDists64AVX2,
		weights64:           weights64AVX2,
		weightedSums64:      weightedSums64AVX2,
		weightedSumsTrans64: weightedSumsTrans64AVX2,
		sqDists:             sqDistsAVX2,
		sqDists64:           sqDists64AVX2,
		addRows:             addRowsAVX2,
		lagrangeBasis:       lagrangeBasisAVX2,
		pointsToNodes:       pointsToNodesAVX2,
		nodesToPoints:       nodesToPointsAVX2,
		byteDotsAbove:       byteDotsAboveAVX2,
		packWords:           packWordsAVX2,
		mulWords:            mulWordsAVX2,
		wordDots:            wordDotsAVX2,
		roundToBytes:        roundToBytesAVX2,
		largestDifference:   largestDifferenceAVX2,
		scaleDifferences:    scaleDifferencesAVX2,
		scaleProducts:       scaleProductsAVX2,
		scaleRow:            scaleRowAVX2,
		addMoments:          addMomentsAVX2,
		quadraticForms:      quadraticFormsAVX2,
	},
	AVX512:     avx512Kernels,
	AVX512VNNI: avx512Kernels.with(AVX512VNNI, byteDotsAboveAVX512VNNI, packWordsAVX512VNNI, mulWordsAVX512VNNI),
	AMX:        avx512Kernels.with(AMX, byteDotsAboveAMX, packWordsAMX, mulWordsAMX),
}

// tablesOfLoads are the kernels whose loops load numbers one by one where those of
// tables gather.
var tablesOfLoads = [...]Kernels{
	AVX512:     avx512Kernels.withLoads(),
	AVX512VNNI: avx512Kernels.with(AVX512VNNI, byteDotsAboveAVX512VNNI, packWordsAVX512VNNI, mulWordsAVX512VNNI).withLoads(),
	AMX:        avx512Kernels.with(AMX, byteDotsAboveAMX, packWordsAMX, mulWordsAMX).withLoads(),
}

var avx512Kernels = Kernels{
	level:               AVX512,
	gather:              true,
	sumSparse:           sumSparseAVX2,
	finite:              finiteAVX2,
	growBox:             growBoxAVX2,
	mulSparse:           mulSparseAVX512,
	mulSparseOffsets:    mulSparseOffsetsAVX512,
	mulSparseOffsets16:  mulSparseOffsets16AVX512,
	packColumns:         packColumnsAVX512,
	float32s:            float32sAVX2,
	expNeg:              expNegAVX512,
	weights:             weightsAVX512,
	collect:             collectAVX512,
	findNear:            findNearAVX512,
	countNear:           countNearAVX512,
	findInBlocks:        findInBlocksAVX512,
	ranks:               ranksAVX512,
	slideWindows:        slideWindowsAVX512,
	finishStep:          finishStepAVX512,
	mulTrans:            mulTransAVX512,
	centre:              centreAVX512,
	centredMulTrans:     centredMulTransAVX512,
	centredDots:         centredDotsAVX512,
	dots:                dotsAVX512,
	dots64:              dots64AVX512,
	dotsToSqDists64:     dotsToSqDists64AVX512,
	weights64:           weights64AVX512,
	weightedSums64:      weightedSums64AVX512,
	weightedSumsTrans64: weightedSumsTrans64AVX512,
	sqDists:             sqDistsAVX512,
	sqDists64:           sqDists64AVX512,
	addRows:             addRowsAVX512,
	lagrangeBasis:       lagrangeBasisAVX512,
	pointsToNodes:       pointsToNodesAVX512,
	nodesToPoints:       nodesToPointsAVX512,
	byteDotsAbove:       byteDotsAboveAVX512,
	packWords:           packWordsAVX512,
	mulWords:            mulWordsAVX512,
	wordDots:            wordDotsAVX512,
	roundToBytes:        roundToBytesAVX512,
	largestDifference:   largestDifferenceAVX512,
	scaleDifferences:    scaleDifferencesAVX512,
	scaleProducts:       scaleProductsAVX512,
	scaleRow:            scaleRowAVX512,
	addMoments:          addMomentsAVX512,
	quadraticForms:      quadraticFormsAVX512,
}

// with returns the kernels of a level that has its own way to multiply bytes; its other kernels
// are those of s.
func (s Kernels) with(level Level,
	byteDotsAbove func(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32),
	packWords func(w *Words, words []uint32),
	mulWords func(sums []uint32, stride int, panel []int8, rows int, w *Words),
) Kernels {
	s.level, s.byteDotsAbove, s.packWords, s.mulWords = level, byteDotsAbove, packWords, mulWords
	return s
}

// withLoads returns the kernels of s without gathers.
func (s Kernels) withLoads() Kernels {
	s.gather = false
	s.mulSparse = mulSparseAVX512Loads
	s.mulSparseOffsets = mulSparseOffsetsAVX512Loads
	s.mulSparseOffsets16 = mulSparseOffsets16AVX2
	s.finishStep = finishStepAVX512Loads
	return s
}
