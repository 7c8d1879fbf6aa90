//go:build gc && !noasm && !purego

package simd

// tableOf returns the kernels of a level. None of them gathers. Functions whose names end in NEON hand their
// arguments to its assembly.
func tableOf(level Level, _ bool) *Kernels {
	if level == NEON {
		return &neonKernels
	}
	return &genericKernels
}

var neonKernels = Kernels{
	level:               NEON,
	sumSparse:           sumSparseGo,
	finite:              finiteGo,
	growBox:             growBoxGo,
	mulSparse:           mulSparseNEON,
	mulSparseOffsets:    mulSparseOffsetsGo,
	packColumns:         packColumnsGo,
	float32s:            float32sGo,
	expNeg:              expNegNEON,
	weights:             weightsNEON,
	collect:             collectGo,
	findNear:            findNearGo,
	countNear:           countNearGo,
	findInBlocks:        findInBlocksGo,
	ranks:               ranksGo,
	slideWindows:        slideWindowsGo,
	finishStep:          finishStepGo,
	mulTrans:            mulTransGo,
	centre:              centreGo,
	centredMulTrans:     centredMulTransGo,
	centredDots:         centredDotsGo,
	dots:                dotsNEON,
	dots64:              dots64Go,
	dotsToSqDists64:     dotsToSqDists64Go,
	weights64:           weights64Go,
	weightedSums64:      weightedSums64Go,
	weightedSumsTrans64: weightedSumsTrans64Go,
	sqDists:             sqDistsGo,
	sqDists64:           sqDists64Go,
	addRows:             addRowsGo,
	lagrangeBasis:       lagrangeBasisGo,
	pointsToNodes:       pointsToNodesGo,
	nodesToPoints:       nodesToPointsGo,
	byteDotsAbove:       byteDotsAboveGo,
	packWords:           packWordsGo,
	mulWords:            mulWordsGo,
	wordDots:            wordDotsNEON,
	roundToBytes:        roundToBytesGo,
	largestDifference:   largestDifferenceGo,
	scaleDifferences:    scaleDifferencesGo,
	scaleProducts:       scaleProductsGo,
	scaleRow:            scaleRowGo,
	addMoments:          addMomentsGo,
	quadraticForms:      quadraticFormsGo,
}.withDotProducts()
