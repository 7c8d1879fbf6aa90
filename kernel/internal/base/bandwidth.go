package base

import (
	"fmt"
	"math"
)

// An Bandwidth is the Gamma of w = exp(-Gamma d^2).
type Bandwidth struct{ gamma float64 }

// BandwidthOf returns the bandwidth of a Gamma, which need not be valid.
func BandwidthOf(gamma float64) Bandwidth { return Bandwidth{gamma} }

// Gamma returns the factor in exp(-Gamma d^2).
func (b Bandwidth) Gamma() float64 { return b.gamma }

// Sigma returns the sigma of exp(-d^2/(2 sigma^2)).
func (b Bandwidth) Sigma() float64 { return math.Sqrt(1 / (2 * b.gamma)) }

// Weight returns exp(-Gamma d2) for a squared distance d2.
func (b Bandwidth) Weight(d2 float64) float64 { return math.Exp(-b.gamma * d2) }

// Radius returns the distance at which the weight is w, for 0 < w <= 1.
func (b Bandwidth) Radius(w float64) float64 { return math.Sqrt(-math.Log(w) / b.gamma) }

// MaxRadius is where weights leave the normal float32 range; what lies beyond counts as
// dropped.
func (b Bandwidth) MaxRadius() float64 { return b.Radius(0x1p-126) }

// String says the sigma of the appendix.
func (b Bandwidth) String() string { return fmt.Sprintf("sigma %.6g", b.Sigma()) }

// Check returns ErrBandwidth unless Gamma is a positive finite number.
func (b Bandwidth) Check() error {
	if !(b.gamma > 0) || math.IsInf(b.gamma, 0) {
		return fmt.Errorf("kernel: %w: want a positive finite number, a sigma between 1e-150 and 1e150", ErrBandwidth)
	}
	return nil
}

// UnderflowDegree is the degree below which weights beyond the range of float32 matter.
func UnderflowDegree(n int, tolerance float64) float64 { return 0x1p-125 * float64(n) / tolerance }
