package sensitivity

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Public is everything except one private record: all other rows. It must be
// the same whatever the private record is, including its number of rows and its
// labels. Rows chosen by looking at the private record (for example one of
// every class except its own) are not public, and no bound covers them.
type Public struct {
	// Row is the position of the private row in Q. It is public.
	Row int
	// Features are the N-1 other rows in the order of Q, of unit norm within
	// 1e-6; they are rescaled to unit norm in float64.
	Features blas64.General
	// Labels are the labels of these rows, 0 .. classes-1.
	Labels []int32
	// Label is the label of the private row, which is public under
	// FeaturesReplace and FeaturesNull; the other relations do not read it.
	Label int32
}

// Known returns the bound of Theorem 2: one private row, at a known position,
// among rows that are public. It uses the public rows and is much smaller than
// Tight. The operator is Full, and the table gives its entries (so it is not
// Range or ClassSize). released lists the rows that are published, nil meaning
// all.
//
// # Statement
//
// Sums run over the n public rows; r is the private one. xbar, qb are means and Xc,
// Qc centred matrices of the public rows alone, beta = |xbar|, l = exp(-2/sigma^2).
//
//	Dlo = n exp(-(1+beta)/sigma^2),   Dhi = n [ (1+beta)/2 + l (1-beta)/2 ]
//	pm  = max_j |x_j - xbar|/sigma^2
//	Psi = ( |Qc^T Xc|_2 + 1/2 pm e^pm |Xc|_2 |Qc|_2 )/(n sigma^2)
//	Phi = min( Psi, (1-l)/(2 sqrt(l)) |Qc|_2/sqrt(n) )
//	S_i = sum_{j != i} w_ij
//	V_i = sum_{j != i} [ w_ij (q_j - q_r) + alpha u_ij (q_i - q_j) ]
//	U_i(y) = V_i + alpha T[y][y_i] (q_i - q_r),    V(y) = sum_j T[y][y_j] (q_r - q_j)
//
// The private record is in a state: unit with label y, where 1/D is in {1/Dhi,
// 1/Dlo} and theta_i in {1/(S_i+1), 1/(S_i+l)}; or null with label y, where 1/D =
// 1/(n rho) and theta_i = 1/(S_i+rho). Then 4 Delta^2 is the largest over the pairs
// of states of the relation of
//
//	( |alpha| max |V(y)/D - V(y')/D'| + h Phi )^2 + sum_i max |theta_i U_i(y) - theta'_i U_i(y')|^2,
//
// the inner maxima over the listed values, h = 1 when one state is null and 2
// otherwise. Pairs: Null (null, 0) with (unit, any y); ReplaceOne any two units;
// FeaturesNull (null, y_r) with (unit, y_r); FeaturesReplace (unit, y_r) twice.
// When only some rows are released, only their terms are added.
//
// # Proof
//
// With the notation of Theorem 1, f - f~ is half of g - g~. For i != r, g_i = theta_i
// U_i(y) + q_r exactly, with theta_i = 1/(S_i + w_ir) and w_ir in [l, 1], or rho. For row
// r, g_r = sum_j p_j q_j + alpha V(y)/D_r. A norm is convex in (theta, theta') and in
// (1/D, 1/D'), so its maximum over a box is at a corner. D_r for a unit row v: with
// t_j = v.x_j, w_rj = exp(-(1-t_j)/sigma^2), which is convex in t_j; Jensen gives D_r >= n
// exp(-(1 - v.xbar)/sigma^2) >= Dlo, and the chord over [-1, 1] gives D_r <= Dhi. The
// p_j are proportional to exp(psi_j), psi_j = v.(x_j - xbar)/sigma^2, which add up to
// 0, so the sum of exp(psi_j) is at least n and
//
//	|sum_j p_j q_j - qb| <= (1/n) |sum_j (psi_j + rem_j)(q_j - qb)|,  0 <= rem_j <= psi_j^2 e^pm/2.
//
// The linear part is at most |Qc^T Xc|_2/sigma^2; |rem|_2 <= (e^pm/2) pm |psi|_2 and
// |psi|_2 <= |Xc|_2/sigma^2. That is Psi; the other member of Phi is shown in the proof
// of Theorem 1. For the null record p is uniform. Triangle inequality. QED
//
// # Evaluation
//
// Every difference is of the form A B - A' B' = (A - A') B' + A (B - B'), where the
// differences of inverse degrees are fractions of 1-l, 1-rho and rho-l, and
// differences of table entries are taken from entries less a constant, so that a
// wide bandwidth or a nearly constant table loses no digits. Terms that may still
// cancel (V_i, V(y), Qc^T Xc, the two ends of 1/D) have their rounding error added:
// the result is an upper bound for every public part, and above the formula by a
// few units in the twelfth digit.
//
// Time O(n^2 (d + k) + classes^2 n k); classes whose row of T agrees on all
// public labels count once. The context is checked between blocks of rows and
// between classes.
//
// Errors: those of Tight, ErrLabels and the error of the context.
func (query Query) Known(ctx context.Context, relation Relation, q blas64.General, public Public, released []int) (Bound, error) {
	b, err := known(ctx, relation, query, q, public, released)
	return b, named("known", err)
}

func known(ctx context.Context, relation Relation, query Query, q blas64.General, public Public, released []int) (Bound, error) {
	lv, table, err := knownConstants(relation, query)
	if err != nil {
		return Bound{}, err
	}
	g, err := newGeometry(q)
	if err != nil {
		return Bound{}, err
	}
	rows := Rows{Private: []int{public.Row}, Released: released}
	if err := rows.check(g.rows); err != nil {
		return Bound{}, err
	}
	x, err := public.unitRows(g.rows)
	if err != nil {
		return Bound{}, err
	}
	if err := public.checkLabels(relation, table.classes); err != nil {
		return Bound{}, err
	}
	s, err := newSurroundings(ctx, q, g, x, public, lv, query.Alpha, table)
	if err != nil {
		return Bound{}, err
	}
	if released != nil {
		s.release(released, public.Row)
	}
	delta, err := s.delta(ctx, relation, public.Label, x)
	if err != nil {
		return Bound{}, err
	}
	return newBound(delta, g.exponent, Bound{
		relation: relation, query: query, derivation: byTheorem2, of: g.identity(query, table.span), row: public.Row, rows: rows.clone(),
	})
}

// knownConstants checks everything except Q and the public rows, and returns the levels
// of the weights and the entries of the table.
func knownConstants(relation Relation, query Query) (lv levels, table entries, err error) {
	if err := relation.check(); err != nil {
		return lv, table, err
	}
	if table.span, err = query.check(); err != nil {
		return lv, table, err
	}
	if _, ok := query.Operator.(Full); !ok {
		return lv, table, refuse(ErrNoBound, "one known row with a %v: use Tight with that row", query.Operator)
	}
	if lv, err = query.Operator.levels(query.Sigma); err != nil {
		return lv, table, err
	}
	if table.weight, table.classes, err = query.Table.entries(); err != nil {
		return lv, table, err
	}
	table.offset = offsetsOf(query.Table, table.span, table.weight)
	return lv, table, nil
}

// delta returns Delta in the units of the geometry.
func (s *surroundings) delta(ctx context.Context, relation Relation, label int32, x blas64.General) (float64, error) {
	phi, err := s.phi(x)
	if err != nil {
		return 0, err
	}
	square, err := s.largest(ctx, relation, label, phi)
	if err != nil {
		return 0, err
	}
	if square != 0 && square < smallestSquare {
		return 0, refuse(errUnrepresentable, "the square of the bound underflows")
	}
	// Every term is off by a few times the relative error of a weight.
	return math.Sqrt(square) / 2 * (1 + 8*s.weightError), nil
}

// smallestSquare is the smallest square of a change that keeps all its digits.
const smallestSquare = 0x1p-900

// unitRows returns the public features, checked and scaled to unit norm.
func (p Public) unitRows(rows int) (blas64.General, error) {
	if p.Features.Rows != rows-1 {
		return blas64.General{}, refuse(ErrShape, "%d public rows for a Q of %d rows, want one less", p.Features.Rows, rows)
	}
	if err := checkMatrix("features", p.Features, 1); err != nil {
		return blas64.General{}, err
	}
	n, d := p.Features.Rows, p.Features.Cols
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range n {
		row := x.Data[i*d:][:d]
		copy(row, p.Features.Data[i*p.Features.Stride:])
		v := blas64.Vector{N: d, Inc: 1, Data: row}
		norm := blas64.Nrm2(v)
		if !(math.Abs(norm-1) <= 1e-6) {
			return blas64.General{}, refuse(errUnitRow, "public row %d", i+1)
		}
		blas64.Scal(1/norm, v)
	}
	return x, nil
}

func (p Public) checkLabels(relation Relation, classes int) error {
	if len(p.Labels) != p.Features.Rows {
		return refuse(ErrLabels, "%d labels for %d public rows", len(p.Labels), p.Features.Rows)
	}
	for i, y := range p.Labels {
		if y < 0 || int(y) >= classes {
			return refuse(ErrLabels, "the label of public row %d is not one of 0 .. %d", i+1, classes-1)
		}
	}
	if !relation.LabelPrivate() && (p.Label < 0 || int(p.Label) >= classes) {
		return refuse(ErrLabels, "the label of the private row is not one of 0 .. %d", classes-1)
	}
	return nil
}
