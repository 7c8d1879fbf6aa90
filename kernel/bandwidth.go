package kernel

import (
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
)

// A Bandwidth is the Gamma of w = exp(-Gamma d^2). Three conventions are in
// circulation for what "sigma" means; there is a constructor for each. The zero value
// is no bandwidth: functions that are given it return ErrBandwidth. They do so too for the
// bandwidth that a constructor makes of anything but a positive finite number.
type Bandwidth struct{ own base.Bandwidth }

// Sigma is the convention of the paper's appendix, exp(-d^2/(2 sigma^2)). It
// is the default everywhere in this module, and the only one the sensitivity
// constants belong to.
func Sigma(sigma float64) Bandwidth { return fromSigma(sigma, 1/(2*sigma*sigma)) }

// SigmaMainText is the convention of the paper's main text, exp(-d^2/sigma).
func SigmaMainText(sigma float64) Bandwidth { return fromSigma(sigma, 1/sigma) }

// SigmaProgram is the convention of the authors' program, exp(-d^2/sigma^2).
func SigmaProgram(sigma float64) Bandwidth { return fromSigma(sigma, 1/(sigma*sigma)) }

// Gamma is the bandwidth itself, exp(-gamma d^2).
func Gamma(gamma float64) Bandwidth { return fromSigma(gamma, gamma) }

func fromSigma(sigma, gamma float64) Bandwidth {
	if !(sigma > 0) || gamma == 0 { // squaring must not hide a sign or a size
		gamma = math.NaN()
	}
	return Bandwidth{base.BandwidthOf(gamma)}
}

// Gamma returns the factor in exp(-Gamma d^2).
func (b Bandwidth) Gamma() float64 { return b.own.Gamma() }

// Sigma returns the bandwidth in the convention of the appendix.
func (b Bandwidth) Sigma() float64 { return b.own.Sigma() }

// Weight returns exp(-Gamma d2) for a squared distance d2.
func (b Bandwidth) Weight(d2 float64) float64 { return b.own.Weight(d2) }

// Radius returns the distance at which the weight is w, for 0 < w <= 1.
func (b Bandwidth) Radius(w float64) float64 { return b.own.Radius(w) }

func (b Bandwidth) String() string { return b.own.String() }

// Check returns ErrBandwidth unless Gamma is a positive finite number.
func (b Bandwidth) Check() error { return b.own.Check() }
