package poly

// Of poly: a term of one row in one pass, and preparing a row.
const (
	polyTermSeconds   = 0.05e-9 // of degree 1, float32
	polyHighSeconds   = 0.35e-9 // of degree 2 and more
	polyTerm64Seconds = 0.05e-9 // in float64
	polyRunSeconds    = 5e-9    // a run of terms that differ in one coordinate only
	polyRowSeconds    = 12e-9
	polyLoadSeconds   = 0.4e-9 // reading one coordinate
	polyPairSeconds   = 0.03e-9
	polyFrameSeconds  = 2e-9 // both passes of the plan, a coordinate
)
