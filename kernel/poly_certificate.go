package kernel

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// taylorRow bounds the sum over j of |what_ij - w_ij| for Taylor's polynomial: no
// |u_ij| is above reach, and the sum of their squares is squares. For u > 0 an error
// is at most w_ij u^(P+1)/(P+1)!, for u < 0 f_i f_j |u|^(P+1)/(P+1)!, and neither w_ij nor
// f_i f_j is above 1.
func taylorRow(s series, reach, squares float64) float64 {
	order := s.order()
	return powerOver(reach, order-1) / float64(order*(order+1)) * squares
}

// polyRounding bounds what computing a sum over j of what_ij x_j in float32, or in
// float64, changes, relative to the sum of |what_ij x_j| with x_i itself among them,
// at weight f_i^2 p. With e the rounding of moments and values that a term goes
// through, it is e times the sum of f_i f_j |x_j| |a_r| (|y_i|.|y_j|)^r over r >= 1, which is at
// most size/least of what is wanted; the constant term is always float64.
func polyRounding(s series, n, d int, single bool) float64 {
	if s.reach() == 0 {
		return 0 // sums of x
	}
	order := s.order()
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
func (op *poly) certify(ctx context.Context, plan *polyPlan, o *Options) error {
	fr, s, n := op.frame, op.series, op.N()
	if n == 1 { // nothing to be relative to
		op.cert = Certificate{Kind: Exact, Isolated: 1, Rounding: polyRounding(s, n, fr.p.D, op.single != nil)}
		op.cert.setRows([]float64{math.Inf(1)})
		return o.refuseIsolated(1, 1, "have no neighbour")
	}
	eta, rounding := make([]float64, n), polyRounding(s, n, fr.p.D, false)
	sum, largest := 0.0, 0.0
	for _, f := range op.factor {
		sum += f
		largest = max(largest, f)
	}
	bound, lowest := s.error(), s.least()
	for i, f := range op.factor {
		eta[i] = bound * f * (sum - f*(1-1e-9)) / op.degrees[i]
	}
	if s.taylor && s.order() > 0 && fr.p.D <= maxPolyMoments {
		if plan.forms == nil {
			var err error
			if plan.forms, err = fr.secondForms(ctx, o); err != nil {
				return err
			}
		}
		for i, squares := range plan.forms {
			row := taylorRow(s, math.Sqrt(fr.norm2[i])*fr.radius*(1+1e-12), squares)/op.degrees[i] + s.slack()/s.least()
			eta[i] = min(eta[i], row)
		}
	}
	if op.low != nil {
		// The rest of each row, and the rounding of the coordinates.
		rest := 0.0
		for i, f := range op.factor {
			rest += f * op.low.rest[i]
		}
		slope := s.slope() * (1 + 1e-9)
		for i, f := range op.factor {
			eta[i] += slope * f * (op.low.rest[i]*rest + polyLowSlack*s.reach()*sum) / op.degrees[i]
		}
		more := slope * (op.low.most*op.low.most + polyLowSlack*s.reach())
		bound += more
		if lowest -= more; lowest <= 0 {
			return fmt.Errorf("%w: a row is so far from the %d axes of the others that weights may not be positive", ErrTolerance, op.low.m)
		}
	}
	most := 0.0 // of the diagonal, relative to the degree
	for i := range eta {
		eta[i] = eta[i]*(1+1e-9) + fr.move*(1+eta[i]) + rounding*s.least()/lowest*(1+op.self[i]/op.degrees[i])
		most = max(most, op.self[i]/op.degrees[i])
	}
	op.cert = Certificate{
		Kind: Relative, EntryRel: bound*math.Exp(s.reach()) + fr.move, EntryAbs: bound*largest*largest + fr.move,
		Rounding: polyRounding(s, n, fr.p.D, op.single != nil) * s.least() / lowest * (1 + most),
	}
	if op.single != nil {
		op.cert.Rounding += 0x1p-24 // W x is float32 before a step is finished
	}
	if fr.radius == 0 {
		op.cert = Certificate{Kind: Exact, Rounding: op.cert.Rounding}
		clear(eta)
	}
	op.cert.setRows(eta)
	return nil
}

// momentChunks is the number of chunks in which second moments of d coordinates
// are summed: they take d^2 numbers each.
func momentChunks(d int) float64 { return float64(max(4, min(64, 1<<24/(d*d)))) }

// secondForms returns upper bounds of y_i' C y_i - |y_i|^4, the sum of (y_i.y_j)^2 over
// j != i, for all rows.
func (fr *polyFrame) secondForms(ctx context.Context, o *Options) ([]float64, error) {
	if fr.single {
		return secondForms(ctx, fr, polySingle(fr), 0x1p-24, o)
	}
	return secondForms(ctx, fr, polyDouble(fr), 0x1p-53, o)
}

func secondForms[E rows.Float](ctx context.Context, fr *polyFrame, arithmetic *polyArithmetic[E], unit float64, o *Options) ([]float64, error) {
	n, d := fr.p.N, fr.p.D
	rows := max(polyPanel, par.Blocks(par.Blocks(n, int(momentChunks(d))), polyPanel)*polyPanel)
	chunks := par.Blocks(n, rows)
	partial := make([]float64, chunks*d*d) // upper halves, by blocks
	type room struct{ panel, turned, part []E }
	rooms := make([]room, o.Workers.Count())
	for i := range rooms {
		rooms[i] = room{make([]E, polyPanel*d), make([]E, polyPanel*d), make([]E, max(momentBlock*d, polyPanel*d))}
	}
	progress := o.progress("second moments", chunks)
	if err := o.Workers.Do(ctx, chunks, par.Func(func(worker, chunk int) {
		r, sum := &rooms[worker], partial[chunk*d*d:][:d*d]
		from, end := par.Block(chunk, n, rows)
		for lo := from; lo < end; lo += polyPanel {
			count := min(polyPanel, end-lo)
			arithmetic.load(r.panel, lo, lo+count)
			for i := range count {
				for c, v := range r.panel[i*d:][:d] {
					r.turned[c*polyPanel+i] = v
				}
			}
			for a := 0; a < d; a += momentBlock {
				tall, wide := min(momentBlock, d-a), d-a
				arithmetic.dots(r.part, wide, r.turned[a*polyPanel:], polyPanel, tall, r.turned[a*polyPanel:], polyPanel, wide, count)
				for i := range tall {
					to := sum[(a+i)*d+a:][:wide]
					for j, v := range r.part[i*wide:][:wide] {
						to[j] += float64(v)
					}
				}
			}
		}
		progress.Add()
	})); err != nil {
		return nil, err
	}
	moments := partial[:d*d]
	for chunk := 1; chunk < chunks; chunk++ {
		for i, v := range partial[chunk*d*d:][:d*d] {
			moments[i] += v
		}
	}
	full := make([]E, d*d)
	for a := range d {
		for b := a; b < d; b++ {
			full[a*d+b], full[b*d+a] = E(moments[a*d+b]), E(moments[a*d+b])
		}
	}
	// Rounding: a chain of a panel, one rounding of C, a chain of d; all relative to
	// the sum of (|y_i|.|y_j|)^2 by coordinates, which is at most |y_i|^2 sum |y_j|^2.
	trace := 0.0
	for _, v := range fr.norm2 {
		trace += v
	}
	slack := trace * (unit*float64(polyPanel+d+16) + float64(n+d)*0x1p-53) * 1.01
	forms := make([]float64, n)
	bounds := polyBounds(n, 1)
	progress = o.progress("bounds", len(bounds)-1)
	err := o.Workers.Do(ctx, len(bounds)-1, par.Func(func(worker, chunk int) {
		r := &rooms[worker]
		for lo, end := bounds[chunk], bounds[chunk+1]; lo < end; lo += polyPanel {
			count := min(polyPanel, end-lo)
			arithmetic.load(r.panel, lo, lo+count)
			arithmetic.dots(r.part, d, r.panel, d, count, full, d, d, d)
			for i := range count {
				sum := 0.0
				y := r.panel[i*d:][:d]
				for c, v := range r.part[i*d:][:d] {
					sum += float64(v) * float64(y[c])
				}
				// The row itself is not among its neighbours.
				self := fr.norm2[lo+i] * fr.norm2[lo+i] * (1 - 1e-12)
				forms[lo+i] = max(sum-self, 0) + slack*fr.norm2[lo+i]
			}
		}
		progress.Add()
	}))
	return forms, err
}

// momentBlock is the number of rows of second moments made at a time.
const momentBlock = 64
