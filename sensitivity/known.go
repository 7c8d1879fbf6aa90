package sensitivity

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// Public is all there is besides one private record: every other row. It must
// be the same whatever the private record is, its number of rows and its labels
// too. Rows chosen by looking at the private record (one of every class but
// its own, say) are not public, and no bound covers them.
type Public struct {
	// Row is the position of the private row in Q. It is public.
	Row int
	// Features are the N-1 other rows in the order of Q, of unit norm within
	// 1e-6; they are rescaled to unit norm in float64.
	Features blas64.General
	// Labels are the labels of these rows, 0 .. classes-1.
	Labels []int32
	// Label is the label of the private row, which is public under
	// FeaturesReplace and FeaturesNull; the others do not read it.
	Label int32
}

// Known returns the bound of Theorem 2: one private row, at a known position,
// among rows that are public. It uses them, and is much below Tight. The
// operator is Full, and the table gives its entries (not Range, not ClassSize).
// released lists the rows that are published, nil meaning all.
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
// those of table entries are taken from entries less a constant, so that a wide
// bandwidth or a nearly constant table loses no digits. What may cancel all the
// same (V_i, V(y), Qc^T Xc, the two ends of 1/D) has its rounding error added: the
// result is an upper bound for every public part, and above the formula by a
// few units in the twelfth digit.
//
// Time O(n^2 (d + k) + classes^2 n k); classes whose row of T agrees on all
// public labels count once. The context is looked at between blocks of rows and
// between classes.
//
// Errors: those of Tight, ErrUnitRow, ErrLabels and the error of the context.
func Known(ctx context.Context, relation Relation, query Query, q blas64.General, public Public, released []int) (Bound, error) {
	b, err := known(ctx, relation, query, q, public, released)
	return b, named("known", err)
}

func known(ctx context.Context, relation Relation, query Query, q blas64.General, public Public, released []int) (Bound, error) {
	if err := relation.check(); err != nil {
		return Bound{}, err
	}
	t, err := query.check()
	if err != nil {
		return Bound{}, err
	}
	if _, ok := query.Operator.(Full); !ok {
		return Bound{}, refuse(ErrNoBound, "one known row with a %v; use Tight with that row", query.Operator)
	}
	lv, err := query.Operator.levels(query.Sigma)
	if err != nil {
		return Bound{}, err
	}
	weight, classes, err := query.Table.entries()
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
	if err := public.checkLabels(relation, classes); err != nil {
		return Bound{}, err
	}
	s, err := newSurroundings(ctx, q, g, x, public, lv, query.Alpha, entries{t, weight, offsetsOf(query.Table, t, weight), classes})
	if err != nil {
		return Bound{}, err
	}
	if released != nil {
		s.release(released, public.Row)
	}
	phi, err := s.phi(x)
	if err != nil {
		return Bound{}, err
	}
	square, err := s.largest(ctx, relation, public.Label, phi)
	if err != nil {
		return Bound{}, err
	}
	if square != 0 && square < smallestSquare {
		return Bound{}, refuse(ErrUnrepresentable, "its square underflows")
	}
	// Every term is off by a few times the relative error of a weight.
	delta := math.Sqrt(square) / 2 * (1 + 8*s.weightError)
	return newBound(delta, g.exponent, Bound{
		relation: relation, query: query, derivation: Theorem2, of: g.identity(query, t), row: public.Row, rows: rows.clone(),
	})
}

// smallestSquare is the smallest square of a change that has all its digits.
const smallestSquare = 0x1p-900

// entries are the entries of a table in the form Theorem 2 needs them: as they
// are, and less a constant.
type entries struct {
	span    span
	weight  func(a, b int32) float64
	offset  func(a, b int32) float64
	classes int
}

// offsetsOf returns the entries of a table less one (Gaussian) or less the
// smallest of them, with an error that is small against their spread.
func offsetsOf(t Table, s span, weight func(a, b int32) float64) func(a, b int32) float64 {
	g, ok := t.(Gaussian)
	if !ok {
		return func(a, b int32) float64 { return weight(a, b) - s.lo }
	}
	x := 1 / g.Sigma / g.Sigma / 2
	return func(a, b int32) float64 {
		if a == b {
			return 0
		}
		d := float64(a) - float64(b)
		return math.Expm1(-d * d * x)
	}
}

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
			return blas64.General{}, refuse(ErrUnitRow, "public row %d", i)
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
			return refuse(ErrLabels, "that of public row %d is not one of 0 .. %d", i, classes-1)
		}
	}
	if !relation.LabelPrivate() && (p.Label < 0 || int(p.Label) >= classes) {
		return refuse(ErrLabels, "that of the private row is not one of 0 .. %d", classes-1)
	}
	return nil
}

// surroundings is what the public rows contribute, in the units of the
// geometry: Theorem 2 without the private record.
type surroundings struct {
	n, k        int
	alpha       float64
	lv          levels
	weightError float64   // relative error of a computed weight, from above
	own         bool      // row r is released
	rows        []int     // public rows released, all at first
	degree      []float64 // S_i
	pull        []float64 // V_i, n x k
	pullError   []float64 // rounding error of V_i, from above
	apart       []float64 // q_i - q_r, n x k
	length      []float64 // |q_i - q_r|
	radius      float64   // the largest of them
	lo, hi      float64   // n/Dlo, n/Dhi
	between     float64   // n/Dlo - n/Dhi
	nullLo      float64   // n/Dlo - 1/rho
	nullHi      float64   // 1/rho - n/Dhi
	endError    float64   // rounding error of these three differences
	span        span
	classes     [][]float64 // T[y], by distinct public label
	offsets     [][]float64 // the same less a constant
	class       []int       // class -> index into classes
	label       []int       // public row -> column of classes
	turn        []turn      // V(y), by index into classes
	turnOffset  []turn      // the same from the offsets
}

// turn is a sum of rows with the sum of their lengths, of which its rounding
// error is a small part.
type turn struct {
	sum  []float64
	size float64
}

// ulp is the unit roundoff of float64. An entry of a table is off by tableError
// relatively: its exponent may be as large as 745.
const (
	ulp        = 0x1p-53
	tableError = 1024 * ulp
)

// newSurroundings makes one pass over all pairs of public rows.
func newSurroundings(ctx context.Context, q blas64.General, g *geometry, x blas64.General, public Public, lv levels, alpha float64,
	table entries) (*surroundings, error) {
	n, k, r := x.Rows, g.columns, public.Row
	s := &surroundings{
		n: n, k: k, alpha: alpha, lv: lv, own: true, rows: make([]int, n), span: table.span,
		degree: make([]float64, n), pull: make([]float64, n*k), pullError: make([]float64, n),
		apart: make([]float64, n*k), length: make([]float64, n),
		// Rows are of unit norm within (2 dim + 8) ulp and a product of two is off by
		// dim ulp more, so a squared distance by less than 16 (dim + 8) ulp.
		weightError: (16*lv.null*float64(x.Cols+8) + 8) * ulp,
	}
	for i := range n {
		s.rows[i] = i
		row := s.apart[i*k:][:k]
		for c := range row {
			row[c] = g.scaled(q.Data[position(i, r)*q.Stride+c] - q.Data[r*q.Stride+c])
			if math.IsInf(row[c], 0) {
				return nil, refuse(ErrUnrepresentable, "differences of the rows of Q overflow")
			}
		}
		s.length[i] = blas64.Nrm2(blas64.Vector{N: k, Inc: 1, Data: row})
		s.radius = max(s.radius, s.length[i])
	}
	if err := s.tabulate(public.Labels, table); err != nil {
		return nil, err
	}
	const block = 64
	dots := make([]float64, min(block, n)*n)
	pull := make([]accumulator, k)
	for lo := 0; lo < n; lo += block {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("sensitivity: known: %w", err)
		}
		m := min(block, n-lo)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, blas64.General{Rows: m, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride:]},
			x, 0, blas64.General{Rows: m, Cols: n, Stride: n, Data: dots})
		for i := lo; i < lo+m; i++ {
			var degree accumulator
			pullError := 0.0
			clear(pull)
			own := s.apart[i*k:][:k]
			table := s.classes[s.class[public.Labels[i]]]
			for j := range n {
				if j == i {
					continue
				}
				d2 := min(max(2-2*dots[(i-lo)*n+j], 0), 4)
				w, u := math.Exp(-d2*lv.null), alpha*table[s.label[j]]
				degree.add(w)
				for c, v := range s.apart[j*k:][:k] {
					pull[c].add(w*v + u*(own[c]-v))
				}
				pullError += 2*s.weightError*w*s.length[j] + tableError*math.Abs(u)*(s.length[i]+s.length[j])
			}
			s.degree[i] = degree.sum()
			s.pullError[i] = pullError
			for c := range pull {
				s.pull[i*k+c] = pull[c].sum()
			}
		}
	}
	return s, nil
}

// position returns the row of Q that public row i is, the private one being r.
func position(i, r int) int {
	if i < r {
		return i
	}
	return i + 1
}

// maxEntries is the largest label table held, in entries: 1 GiB.
const maxEntries = 1 << 27

// tabulate stores T[y][y_j] by class y and distinct public label, once for
// classes that agree on all of them.
func (s *surroundings) tabulate(labels []int32, table entries) error {
	column := make(map[int32]int)
	var distinct []int32
	s.label = make([]int, len(labels))
	for j, y := range labels {
		c, ok := column[y]
		if !ok {
			c = len(distinct)
			column[y] = c
			distinct = append(distinct, y)
		}
		s.label[j] = c
	}
	if table.classes > maxEntries/len(distinct) {
		return refuse(ErrTable, "%d classes by %d public labels are too many to hold", table.classes, len(distinct))
	}
	seen := make(map[string]int)
	s.class = make([]int, table.classes)
	key := make([]byte, 0, 16*len(distinct))
	for y := range s.class {
		row, offset := make([]float64, len(distinct)), make([]float64, len(distinct))
		key = key[:0]
		for c, b := range distinct {
			row[c], offset[c] = table.weight(int32(y), b), table.offset(int32(y), b)
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(row[c]))
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(offset[c]))
		}
		index, ok := seen[string(key)]
		if !ok {
			index = len(s.classes)
			seen[string(key)] = index
			s.classes = append(s.classes, row)
			s.offsets = append(s.offsets, offset)
		}
		s.class[y] = index
	}
	for i := range s.classes {
		s.turn = append(s.turn, s.labelPull(s.classes[i]))
		s.turnOffset = append(s.turnOffset, s.labelPull(s.offsets[i]))
	}
	return nil
}

// release keeps only the released rows.
func (s *surroundings) release(released []int, r int) {
	s.own = slices.Contains(released, r)
	s.rows = s.rows[:0]
	for _, i := range released {
		switch {
		case i < r:
			s.rows = append(s.rows, i)
		case i > r:
			s.rows = append(s.rows, i-1)
		}
	}
	slices.Sort(s.rows)
}

// phi sets the ends of the inverse degree of a unit row r and returns Phi.
func (s *surroundings) phi(x blas64.General) (float64, error) {
	n, d, k := x.Rows, x.Cols, s.k
	rows := float64(n)
	// The rows are off unit norm by rowError at most; beta is taken that much
	// larger, which widens the interval of the degree.
	rowError := float64(4*d+64) * ulp
	xc := slices.Clone(x.Data)
	mean := centreColumns(xc, n, d)
	beta := min(1, blas64.Nrm2(blas64.Vector{N: d, Inc: 1, Data: mean})+rowError)
	inverse := 2 * s.lv.null // 1/sigma^2
	h := -math.Expm1(-s.lv.low) * (1 - beta) / 2
	s.lo, s.hi = math.Exp((1+beta)*inverse), 1/(1-h)
	s.between = math.Expm1((1+beta)*inverse) - h/(1-h)
	s.nullLo = expGap((1+beta)*inverse, s.lv.null)
	s.nullHi = math.Expm1(s.lv.null) - h/(1-h)
	s.endError = 16 * ulp * (s.between + h/(1-h)) * (1 + s.lv.low)
	if n == 1 {
		return 0, nil // the one weight is all of p
	}

	qc := slices.Clone(s.apart)
	centreColumns(qc, n, k)
	qNorm, err := spectralNorm(qc, n, k)
	if err != nil {
		return 0, err
	}
	xNorm, err := spectralNorm(xc, n, d)
	if err != nil {
		return 0, err
	}
	cross := make([]float64, k*d)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, blas64.General{Rows: n, Cols: k, Stride: k, Data: qc},
		blas64.General{Rows: n, Cols: d, Stride: d, Data: xc}, 0, blas64.General{Rows: k, Cols: d, Stride: d, Data: cross})
	crossNorm, err := spectralNorm(cross, k, d)
	if err != nil {
		return 0, err
	}
	// What centring and the products are off by.
	qFrob, xFrob := frobeniusOf(qc), frobeniusOf(xc)
	qError, xError := 8*ulp*math.Sqrt(rows*float64(k))*s.radius, rowError*math.Sqrt(rows)
	crossNorm += (rows+8)*ulp*qFrob*xFrob + qError*xFrob + xError*qFrob
	qNorm += qError
	xNorm += xError
	pm := 0.0
	for i := range n {
		pm = max(pm, inverse*(blas64.Nrm2(blas64.Vector{N: d, Inc: 1, Data: xc[i*d:]})+rowError))
	}
	phi := math.Sinh(s.lv.low/2) * qNorm / math.Sqrt(rows)
	if psi := (crossNorm + 0.5*pm*math.Exp(pm)*xNorm*qNorm) * inverse / rows; psi < phi {
		phi = psi // false where e^pm overflows
	}
	return phi, nil
}

// state is one of the private record.
type state struct {
	class int // index into surroundings.classes
	null  bool
}

// largest returns 4 Delta^2, the largest over the pairs of states.
func (s *surroundings) largest(ctx context.Context, relation Relation, label int32, phi float64) (float64, error) {
	fixed := 0
	if !relation.LabelPrivate() {
		fixed = s.class[label]
	}
	switch relation {
	case FeaturesNull:
		return s.pair(state{fixed, true}, state{fixed, false}, phi), nil
	case FeaturesReplace:
		return s.pair(state{fixed, false}, state{fixed, false}, phi), nil
	}
	best := 0.0
	for a := range s.classes {
		if err := ctx.Err(); err != nil {
			return 0, fmt.Errorf("sensitivity: known: %w", err)
		}
		if relation == Null {
			best = max(best, s.pair(state{s.class[0], true}, state{a, false}, phi))
			continue
		}
		for b := a; b < len(s.classes); b++ {
			best = max(best, s.pair(state{a, false}, state{b, false}, phi))
		}
	}
	return best, nil
}

// pair returns the square for two states, of which only the first may be null.
func (s *surroundings) pair(a, b state, phi float64) float64 {
	var total accumulator
	if s.own {
		h := 2.0
		if a.null {
			h = 1
		}
		own := math.Abs(s.alpha)*s.ownLabel(a, b) + h*phi
		total.add(own * own)
	}
	k, l, rho := s.k, math.Exp(-s.lv.low), math.Exp(-s.lv.null)
	oneL, oneRho, rhoL := -math.Expm1(-s.lv.low), -math.Expm1(-s.lv.null), -rho*math.Expm1(s.lv.null-s.lv.low)
	ub, da, db := s.classes[b.class], s.offsets[a.class], s.offsets[b.class]
	labelError := 0.0
	if a.class != b.class {
		labelError = 8 * ulp * math.Abs(s.alpha) * s.span.spread
	}
	for _, i := range s.rows {
		// theta U - theta' U' = (theta - theta') U' + theta (U - U'), for the pairs of theta.
		first, last := 1/(s.degree[i]+1), 1/(s.degree[i]+l)
		gaps, factors := [3]float64{0, oneL * first * last, -oneL * first * last}, [3]float64{last, last, first}
		if a.null {
			null := 1 / (s.degree[i] + rho)
			gaps, factors = [3]float64{0, oneRho * null * first, -rhoL * null * last}, [3]float64{0, null, null}
		}
		var corner [3]float64
		vb, change := s.alpha*ub[s.label[i]], s.alpha*(da[s.label[i]]-db[s.label[i]])
		apart := s.apart[i*k:][:k]
		for c, v := range s.pull[i*k:][:k] {
			second := v + vb*apart[c]
			for t := range corner {
				d := gaps[t]*second + factors[t]*change*apart[c]
				corner[t] += d * d
			}
		}
		row := math.Sqrt(max(corner[0], corner[1], corner[2])) +
			max(gaps[1], -gaps[2])*(s.pullError[i]+tableError*math.Abs(vb)*s.length[i]) + max(factors[1], factors[2])*labelError*s.length[i]
		total.add(row * row)
	}
	return total.sum()
}

// ownLabel returns max |V(y)/D - V(y')/D'| over the ends of the degrees, as
// (1/D - 1/D') V(y') + (V(y) - V(y'))/D.
func (s *surroundings) ownLabel(a, b state) float64 {
	gaps, factors := [3]float64{0, s.between, -s.between}, [3]float64{s.lo, s.lo, s.hi}
	if a.null {
		null := math.Exp(s.lv.null)
		gaps, factors = [3]float64{0, s.nullHi, -s.nullLo}, [3]float64{0, null, null}
	}
	vb, da, db := s.turn[b.class], s.turnOffset[a.class], s.turnOffset[b.class]
	var corner [3]float64
	for c, v := range vb.sum {
		for t := range corner {
			d := gaps[t]*v + factors[t]*(da.sum[c]-db.sum[c])
			corner[t] += d * d
		}
	}
	best := math.Sqrt(max(corner[0], corner[1], corner[2])) + (s.endError+tableError*max(math.Abs(gaps[1]), math.Abs(gaps[2])))*vb.size
	if a.class != b.class {
		best += 8 * ulp * factors[1] * (da.size + db.size)
	}
	return best / float64(s.n)
}

// labelPull returns V(y) of a class given its row of the table.
func (s *surroundings) labelPull(table []float64) turn {
	sums := make([]accumulator, s.k)
	size := 0.0
	for j, label := range s.label {
		size += math.Abs(table[label]) * s.length[j]
		for c, v := range s.apart[j*s.k:][:s.k] {
			sums[c].add(-table[label] * v)
		}
	}
	out := make([]float64, s.k)
	for c := range out {
		out[c] = sums[c].sum()
	}
	return turn{out, size}
}
