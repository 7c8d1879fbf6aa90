//go:build gc && !noasm && !purego

package simd

func tableOf(level Level) *Kernels {
	if level == NEON {
		return &neonKernels
	}
	return &genericKernels
}

var neonKernels = Kernels{
	level:       NEON,
	sumRows:     sumRowsGo,
	finite:      finiteGo,
	widen:       widenGo,
	mulRowsF32:  mulRowsF32NEON,
	mulOffsets:  mulOffsetsGo,
	pack:        packGo,
	singles:     singlesGo,
	expNeg:      expNegNEON,
	weights:     weightsNEON,
	collect:     collectGo,
	near:        nearGo,
	countNear:   countNearGo,
	slide:       slideGo,
	finishRows:  finishRowsGo,
	mulTrans:    mulTransGo,
	centre:      centreGo,
	centredSums: centredSumsGo,
	centredDots: centredDotsGo,
	dots:        dotsNEON,
	sqDistsTo:   sqDistsToGo,
	wideDistsTo: wideDistsToGo,
	addRows:     addRowsGo,
	lagrange:    lagrangeGo,
	toNodes:     toNodesGo,
	fromNodes:   fromNodesGo,
	above8:      above8Go,
	round8:      round8Go,
}
