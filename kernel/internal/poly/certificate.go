package poly

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
)

// taylorRow bounds the sum over j of |what_ij - w_ij| for Taylor's polynomial: no
// |u_ij| is above reach, and the sum of their squares is squares. For u > 0 an error
// is at most w_ij u^(P+1)/(P+1)!, for u < 0 f_i f_j |u|^(P+1)/(P+1)!, and neither w_ij nor
// f_i f_j is above 1.
func taylorRow(s Series, reach, squares float64) float64 {
	order := s.Order()
	return powerOver(reach, order-1) / float64(order*(order+1)) * squares
}

// polyRounding bounds what computing a sum over j of what_ij x_j in float32, or in
// float64, changes, relative to the sum of |what_ij x_j| with x_i itself among them,
// at weight f_i^2 p. With e the rounding of moments and values that a term goes
// through, it is e times the sum of f_i f_j |x_j| |a_r| (|y_i|.|y_j|)^r over r >= 1, which is at
// most size/least of what is wanted; the constant term is always float64.
//
// What is counted is the order of polySinglePass, n + 374 + d + (P-1)(d+4) roundings in
// float64 for a polynomial of order P. That of polyDoublePass has fewer. There a term goes
// through
//
//   - two roundings of f_j (x_j - shift), and one of each product with a coordinate before
//     the moment is added to: P-1, or P where AddRows ends it, which rounds its product;
//   - no more than n additions of rows of a chunk, and then 256 of chunks;
//   - 3P+2 of the coefficient: P products and P quotients of the number of orders, P
//     products of the scale squared, one with a_r and one with the moment;
//   - d + d/8 + 5 in QuadraticForms, or d/8 + 5 where P is 1, and one addition more along
//     axes; a nest without a block has as many, with its product and its additions;
//   - for each degree above 2 a product with a coordinate and d+1 additions on the way back;
//   - four where a row is put together: the constant term, f_i, the diagonal, the shift.
//
// For P = 1 that is n + 273 + d/8. For P > 1 it is n + 270 + 4P + d + d/8 + (P-2)(d+2), which is
// below what is counted by 104 - 2P + 7d/8; and no order is above 32. Fused products round
// once where this counts twice. The diagonal itself, by Horner's scheme, has 2P + 3: they
// fit in the 254 by which rows of a chunk and chunks are fewer than n + 256.
func polyRounding(s Series, n, d int, single bool) float64 {
	if s.reach() == 0 {
		return 0 // sums of x
	}
	order := s.Order()
	// fx, a chain of panel products, coefficient and value, a chain of d products;
	// for each degree more two products and d additions.
	inner := float64(polyPanel+1) + 3 + float64(d+6) + float64((order-1)*(d+4))
	wide := float64(n) + 300 + inner
	e := wide * 0x1p-53
	if single {
		e += inner * 0x1p-24
	}
	if order == 0 {
		e = 0
	}
	return 1.01 * (e*s.size(1) + (float64(n)+16)*0x1p-53*s.size(0)) / s.least()
}

// certify sets the certificate, and refuses what the options do not allow.
func (op *Poly) certify(ctx context.Context, plan *polyPlan, o *base.Options) error {
	fr, s, n := op.Frame, op.Series, op.N()
	if n == 1 { // nothing to be relative to
		op.Cert = base.Certificate{Kind: base.Exact, Isolated: 1, Rounding: polyRounding(s, n, fr.p.D, op.Single)}
		op.Cert.SetRows([]float64{math.Inf(1)})
		return o.RefuseIsolated(1, 1, "have no neighbour")
	}
	eta, sum, largest := op.boundRows()
	if s.Taylor && s.Order() > 0 && fr.p.D <= maxPolyMoments {
		if err := op.boundSquares(ctx, eta, plan, o); err != nil {
			return err
		}
	}
	bound, lowest := s.Error(), s.least()
	if op.Low != nil {
		more := op.boundRest(eta, sum)
		bound += more
		if lowest -= more; lowest <= 0 {
			return fmt.Errorf("%w: a row is so far from the %d axes of the others that weights may not be positive", base.ErrTolerance, op.Low.m)
		}
	}
	most := 0.0 // of the diagonal, relative to the degree
	rounding := polyRounding(s, n, fr.p.D, false)
	for i := range eta {
		eta[i] = eta[i]*(1+1e-9) + fr.move*(1+eta[i]) + rounding*s.least()/lowest*(1+op.self[i]/op.RowSums[i])
		most = max(most, op.self[i]/op.RowSums[i])
	}
	op.Cert = base.Certificate{
		Kind: base.Relative, EntryRel: bound*math.Exp(s.reach()) + fr.move, EntryAbs: bound*largest*largest + fr.move,
		Rounding: polyRounding(s, n, fr.p.D, op.Single) * s.least() / lowest * (1 + most),
	}
	if op.Single {
		op.Cert.Rounding += 0x1p-24 // W x is float32 before a step is finished
	}
	if fr.radius == 0 {
		op.Cert = base.Certificate{Kind: base.Exact, Rounding: op.Cert.Rounding}
		clear(eta)
	}
	op.Cert.SetRows(eta)
	return nil
}

// boundRows returns the bounds of all rows by the error of the polynomial, the sum of the
// factors f_i, and the largest of them.
func (op *Poly) boundRows() (eta []float64, sum, largest float64) {
	for _, f := range op.Factor {
		sum += f
		largest = max(largest, f)
	}
	eta = make([]float64, len(op.Factor))
	bound := op.Series.Error()
	for i, f := range op.Factor {
		eta[i] = bound * f * (sum - f*(1-1e-9)) / op.RowSums[i]
	}
	return eta, sum, largest
}

// boundSquares lowers bounds to those of Taylor's polynomial, where these are smaller.
func (op *Poly) boundSquares(ctx context.Context, eta []float64, plan *polyPlan, o *base.Options) (err error) {
	fr, s := op.Frame, op.Series
	if plan.forms == nil {
		if plan.forms, err = fr.secondForms(ctx, o); err != nil {
			return err
		}
	}
	for i, squares := range plan.forms {
		row := taylorRow(s, math.Sqrt(fr.norm2[i])*fr.radius*(1+1e-12), squares)/op.RowSums[i] + s.slack()/s.least()
		eta[i] = min(eta[i], row)
	}
	return nil
}

// boundRest adds to the bounds what the axes of the projection leave of each row, and the
// rounding of coordinates along them. It returns what these add to the error of p(u). sum
// is that of the factors.
func (op *Poly) boundRest(eta []float64, sum float64) (more float64) {
	s, rest := op.Series, 0.0
	for i, f := range op.Factor {
		rest += f * op.Low.rest[i]
	}
	slope := s.slope() * (1 + 1e-9)
	for i, f := range op.Factor {
		eta[i] += slope * f * (op.Low.rest[i]*rest + polyLowSlack*s.reach()*sum) / op.RowSums[i]
	}
	return slope * (op.Low.most*op.Low.most + polyLowSlack*s.reach())
}
