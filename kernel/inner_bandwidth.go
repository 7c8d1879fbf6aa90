package kernel

import (
	"fmt"
	"math"
)

// An innerBandwidth is the Gamma of w = exp(-Gamma d^2).
type innerBandwidth struct{ gamma float64 }

// bandwidthOf returns the bandwidth of a Gamma, which need not be valid.
func bandwidthOf(gamma float64) innerBandwidth { return innerBandwidth{gamma} }

// Gamma returns the factor in exp(-Gamma d^2).
func (b innerBandwidth) Gamma() float64 { return b.gamma }

// Sigma returns the sigma of exp(-d^2/(2 sigma^2)).
func (b innerBandwidth) Sigma() float64 { return math.Sqrt(1 / (2 * b.gamma)) }

// Weight returns exp(-Gamma d2) for a squared distance d2.
func (b innerBandwidth) Weight(d2 float64) float64 { return math.Exp(-b.gamma * d2) }

// Radius returns the distance at which the weight is w, for 0 < w <= 1.
func (b innerBandwidth) Radius(w float64) float64 { return math.Sqrt(-math.Log(w) / b.gamma) }

// MaxRadius is where weights leave the normal float32 range; what lies beyond counts as
// dropped.
func (b innerBandwidth) MaxRadius() float64 { return b.Radius(0x1p-126) }

func (b innerBandwidth) String() string { return fmt.Sprintf("sigma %.6g", b.Sigma()) }

// Check returns ErrBandwidth unless Gamma is a positive finite number.
func (b innerBandwidth) Check() error {
	if !(b.gamma > 0) || math.IsInf(b.gamma, 0) {
		return fmt.Errorf("kernel: %w: want a positive finite number, a sigma between 1e-150 and 1e150", innerErrBandwidth)
	}
	return nil
}

// underflowDegree is the degree below which weights beyond the range of float32 matter.
func underflowDegree(n int, tolerance float64) float64 { return 0x1p-125 * float64(n) / tolerance }
