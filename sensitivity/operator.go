package sensitivity

import (
	"fmt"
	"math"
)

// An Operator says how the feature weights are made, because each way has its
// own bound: Full, Floor, Background, or Truncated, which has none.
type Operator interface {
	fmt.Stringer
	// Kind returns the name of the kind: "full", "floor", "background" or
	// "truncated".
	Kind() string
	// levels returns the range of the weights; ErrNoBound where the weights
	// have no positive lower end.
	levels(sigma float64) (levels, error)
}

// levels holds negative logarithms of weights: low belongs to the smallest
// weight between two rows of unit norm, null to the weight between the null
// record and a unit row. Every difference of weights or of their inverses
// is then a product of an exponential and an expm1, without cancellation.
type levels struct{ low, null float64 }

// Full is the full kernel, w_ij = exp(-|x_i-x_j|^2/(2 sigma^2)) for all i != j.
type Full struct{}

func (Full) String() string { return "full kernel" }

// Kind returns "full".
func (Full) Kind() string { return "full" }

func (Full) levels(sigma float64) (levels, error) {
	x, err := halfInverseSquare(sigma)
	if err != nil {
		return levels{}, err
	}
	if 4*x > maxExponent {
		return levels{}, refuse(errUnrepresentable, "exp(-2/sigma^2) underflows at sigma = %g, want at least 0.0535", sigma)
	}
	return levels{low: 4 * x, null: x}, nil
}

// Floor is a kernel whose degrees are at least Tau: max(D_i, Tau) in place of D_i
// (variant V1). The weights may be any symmetric function of two rows with values
// in [0, 1], so every truncation is covered. A label table that is truncated as
// well is another Table, and its range then includes 0. The bound is of order
// |alpha| n/Tau: to be useful, Tau has to be a constant fraction of n.
type Floor struct{ Tau float64 }

func (f Floor) String() string { return fmt.Sprintf("degree floor %v", f.Tau) }

// Kind returns "floor".
func (Floor) Kind() string { return "floor" }

func (f Floor) levels(float64) (levels, error) {
	return levels{}, refuse(ErrNoBound, "the weights of a %s may vanish", f)
}

func (f Floor) check() error {
	if !(f.Tau > 0) || math.IsInf(f.Tau, 0) {
		return refuse(errFloor, "%g, want a positive finite number", f.Tau)
	}
	return nil
}

// Background is a truncated kernel with a constant in place of the weights left out:
// w_ij = exp(-|x_i-x_j|^2/(2 sigma^2)) when |x_i-x_j| <= Radius, else Weight
// (variant V2). Its Laplacian is a sparse one plus Weight (N I - 1 1^T).
// Radius is in (0, 2] and Weight in [exp(-2/sigma^2), exp(-Radius^2/(2 sigma^2))];
// Midpoint returns the middle of that range, which has the smallest error.
//
// The null record has weight exp(-1/(2 sigma^2)) to every row when Radius >= 1
// and Weight otherwise, by definition rather than by a computed distance.
type Background struct{ Radius, Weight float64 }

func (b Background) String() string {
	return fmt.Sprintf("background %v beyond radius %v", b.Weight, b.Radius)
}

// Kind returns "background".
func (Background) Kind() string { return "background" }

func (b Background) levels(sigma float64) (levels, error) {
	full, err := Full{}.levels(sigma)
	if err != nil {
		return levels{}, err
	}
	if !(b.Radius > 0) || b.Radius > 2 {
		return levels{}, refuse(errBackground, "radius %g, want one in (0, 2]", b.Radius)
	}
	// The ends are compared with a tolerance, since callers compute them too.
	// This is harmless: the smallest possible weight is taken below.
	edge := b.Radius * b.Radius * full.null
	if !(b.Weight >= math.Exp(-full.low)*(1-1e-12)) || b.Weight > math.Exp(-edge)*(1+1e-12) {
		return levels{}, refuse(errBackground, "weight %g, want one in [%g, %g]", b.Weight, math.Exp(-full.low), math.Exp(-edge))
	}
	background := -math.Log(b.Weight)
	if b.Weight > 0.5 {
		background = max(0, -math.Log1p(b.Weight-1)) // near one the difference is exact
	}
	lv := levels{low: max(background, edge), null: background}
	if b.Radius >= 1 {
		lv.null = full.null
	}
	return lv, nil
}

// Midpoint returns the background of the given radius half way between the
// smallest and the largest weight it replaces, which has the smallest error.
// The arguments are checked where the result is used.
func Midpoint(sigma, radius float64) Background {
	x := 1 / (2 * sigma * sigma)
	return Background{Radius: radius, Weight: (math.Exp(-4*x) + math.Exp(-radius*radius*x)) / 2}
}

// Truncated is a kernel that is zero beyond a radius, with neither a floor nor
// a background. It has no useful bound and is always refused with ErrNoBound:
// one record may keep the degrees of all others above zero, and removing it
// changes the result by an amount of order n^(3/2).
type Truncated struct{ Radius float64 }

func (t Truncated) String() string { return fmt.Sprintf("truncated kernel of radius %v", t.Radius) }

// Kind returns "truncated".
func (Truncated) Kind() string { return "truncated" }

func (t Truncated) levels(float64) (levels, error) {
	return levels{}, refuse(ErrNoBound, "%s without a degree floor or a constant background", t)
}

// maxExponent is the largest -log of a weight: exp(700) is still a float64.
const maxExponent = 700

// minExponent is the smallest 1/(2 sigma^2): below it products of the
// constants underflow.
const minExponent = 1e-280

// halfInverseSquare checks a bandwidth and returns 1/(2 sigma^2).
func halfInverseSquare(sigma float64) (float64, error) {
	if !(sigma > 0) || math.IsInf(sigma, 0) {
		return 0, refuse(errBandwidth, "sigma = %g, want a positive finite number", sigma)
	}
	x := 1 / sigma / sigma / 2
	if x < minExponent {
		return 0, refuse(errUnrepresentable, "1/sigma^2 underflows at sigma = %g", sigma)
	}
	return x, nil
}
