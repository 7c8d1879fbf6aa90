package simd

// Kernels are the functions of one level. They do not change and are safe for concurrent
// use. An engine keeps those it was made with, so two engines of one program may run at
// different levels.
type Kernels struct {
	level               Level
	gather              bool // whether the loops of the level gather, where it has both forms
	sumSparse           func(dst []float64, ptr []uint64, val []float32)
	finite              func(x []float32) bool
	growBox             func(lo, hi, x []float32)
	mulSparse           func(dst Rows[float32], k int, ptr []uint64, ind []uint32, val []float32, x Rows[float32])
	mulSparseOffsets    func(dst Rows[float32], k int, ptr []uint64, base []uint32, off []uint16, val []float32, x Rows[float32])
	mulSparseOffsets16  func(dst Rows[float32], k int, ptr []uint64, base []uint32, off, val []uint16, x Rows[float32]) bool // nil where a level has none; false where it did nothing
	packColumns         func(off []uint16, ptr []uint64, base, ind []uint32)
	float32s            func(dst []float32, half []uint16)
	expNeg              func(dst, x []float32)
	weights             func(dst []float32, d2 []float64, gamma float64)
	collect             func(c *Candidates, coords Rows[float32], spans []uint32)
	findNear            func(ind []uint32, d2 []float64, counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int
	countNear           func(counts []uint32, c *Candidates, coords Rows[float32], r2 float64) int
	findInBlocks        func(ind []uint32, d2 []float64, boxes *Candidates, coords Rows[float32], point int, r2 float64) int
	ranks               func(rank []uint32, x []float64, n int)
	slideWindows        func(windows []Window, numbers []uint32, lo, hi uint32)
	finishStep          func(f *StepFinish, dst, x Rows[float32], wx []float32, degrees []float64, slots []uint32)
	sqDists             func(dst, x []float32, rows Rows[float32], index []uint32, limit float32)
	sqDists64           func(dst []float64, x []float32, rows Rows[float32], index []uint32)
	addRows             func(dst, v []float64, x Rows[float64])
	lagrangeBasis       func(dst, t, nodes, factor []float64)
	pointsToNodes       func(dst, rows, last, x []float64)
	nodesToPoints       func(dst, rows, last, nodes []float64, n int)
	byteDotsAbove       func(mask []uint64, a []int8, panel []uint8, depth int, bias, threshold []int32)
	packWords           func(w *Words, words []uint32)
	mulWords            func(sums []uint32, stride int, panel []int8, rows int, w *Words)
	wordDots            func(dst, a, b []uint32, depth int)
	largestDifference   func(x []float32, mean []float64) float64
	scaleDifferences    func(dst, x []float32, mean []float64, scale float64)
	scaleProducts       func(dst, x []float32, scale float64, columns []float64)
	scaleRow            func(dst, x []float32, scale float64)
	roundToBytes        func(code []int8, x, centre []float32, inverse float64) (missed float64, squares, sum int32)
	mulTrans            func(dst, w, a Rows[float32], k, rows, cols int)
	centredMulTrans     func(dst, w, x Rows[float32], k, rows int, centre []float32, scale float32)
	centredDots         func(dst, b, x Rows[float32], k, rows int, centre []float32, scale float32)
	centre              func(dst, x Rows[float32], rows int, centre []float32, scale float32)
	dots                func(dst, a, b Rows[float32], na, nb, d int)
	dots64              func(dst, a, b Rows[float64], na, nb, d int)
	dotsToSqDists64     func(dots []float64, norm2 float64, norms2 []float64)
	weights64           func(dst, d2 []float64, gamma, least, most float64)
	weightedSums64      func(dst, w, x Rows[float64], k, m, n int)
	weightedSumsTrans64 func(dst, w, x Rows[float64], k, m, n int)
	addMoments          func(dst []float64, y Rows[float64], w []float64, d int)
	quadraticForms      func(dst []float64, y Rows[float64], linear, m []float64)
}

// At returns the kernels of a level, or of the highest below it where Best is lower.
// At(Best()) is the usual call. Where the level has loops to choose from, At takes those
// that PM_SIMD asks for, or those that are faster on this machine: the first such call
// measures them, mostly in a fraction of a millisecond.
func At(level Level) *Kernels {
	level = lower(level, Best())
	return tableOf(level, level.gathers() && asked().gathersChosen(probed))
}

// Level returns the level of the kernels.
func (s *Kernels) Level() Level { return s.level }

// Choices returns the choice of loops as PM_SIMD spells it, "gather=on" or "gather=off",
// and "" for a level without a choice.
func (s *Kernels) Choices() string {
	if !s.level.gathers() {
		return ""
	}
	return gatherChoice(s.gather)
}

// gatherChoice spells the choice between gathers and loads.
func gatherChoice(gathers bool) string {
	if gathers {
		return "gather=on"
	}
	return "gather=off"
}

// String returns the level and the choices as PM_SIMD spells them.
func (s *Kernels) String() string {
	if choices := s.Choices(); choices != "" {
		return s.level.String() + "," + choices
	}
	return s.level.String()
}

var genericKernels = Kernels{
	level:               Generic,
	mulSparse:           mulSparseGo,
	mulSparseOffsets:    mulSparseOffsetsGo,
	packColumns:         packColumnsGo,
	float32s:            float32sGo,
	sumSparse:           sumSparseGo,
	finite:              finiteGo,
	growBox:             growBoxGo,
	expNeg:              expNegF32Go,
	weights:             weightsF32Go,
	collect:             collectGo,
	findNear:            findNearGo,
	countNear:           countNearGo,
	findInBlocks:        findInBlocksGo,
	ranks:               ranksGo,
	slideWindows:        slideWindowsGo,
	finishStep:          finishStepGo,
	dots:                dotsGo,
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
	wordDots:            wordDotsGo,
	roundToBytes:        roundToBytesGo,
	largestDifference:   largestDifferenceGo,
	scaleDifferences:    scaleDifferencesGo,
	scaleProducts:       scaleProductsGo,
	scaleRow:            scaleRowGo,
	mulTrans:            mulTransGo,
	centre:              centreGo,
	centredMulTrans:     centredMulTransGo,
	centredDots:         centredDotsGo,
	addMoments:          addMomentsGo,
	quadraticForms:      quadraticFormsGo,
}
