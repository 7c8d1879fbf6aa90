package sensitivity

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// The evaluation of Theorem 2; statement and proof are at Known.

// entries holds the entries of a table in the two forms that Theorem 2 needs:
// unchanged, and less a constant.
type entries struct {
	span    span
	weight  func(a, b int32) float64
	offset  func(a, b int32) float64
	classes int
}

// offsetsOf returns the entries of a table minus one (Gaussian) or minus the
// smallest of them, with an error that is small compared with their spread.
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

// surroundings is the contribution of the public rows, in the units of the
// geometry: Theorem 2 without the private record.
type surroundings struct {
	n, k        int
	alpha       float64
	lv          levels
	weightError float64   // relative error of a computed weight, from above
	own         bool      // row r is released
	rows        []int     // released public rows, all at first
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

// turn is a sum of rows with the sum of their lengths; its rounding error is a
// small fraction of that.
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
	n, k := x.Rows, g.columns
	s := &surroundings{
		n: n, k: k, alpha: alpha, lv: lv, own: true, rows: make([]int, n), span: table.span,
		degree: make([]float64, n), pull: make([]float64, n*k), pullError: make([]float64, n),
		apart: make([]float64, n*k), length: make([]float64, n),
		// Rows are of unit norm within (2 dim + 8) ulp and a product of two is off by
		// dim ulp more, so a squared distance by less than 16 (dim + 8) ulp.
		weightError: (16*lv.null*float64(x.Cols+8) + 8) * ulp,
	}
	for i := range s.rows {
		s.rows[i] = i
	}
	if err := s.measure(q, g, public.Row); err != nil {
		return nil, err
	}
	if err := s.tabulate(ctx, public.Labels, table); err != nil {
		return nil, err
	}
	return s, s.addPairs(ctx, x, public.Labels)
}

// measure sets q_i - q_r for all public rows, r the private one, and their lengths.
func (s *surroundings) measure(q blas64.General, g *geometry, r int) error {
	for i := range s.n {
		row := s.apart[i*s.k:][:s.k]
		for c := range row {
			row[c] = g.scaled(q.Data[position(i, r)*q.Stride+c] - q.Data[r*q.Stride+c])
			if math.IsInf(row[c], 0) {
				return refuse(errUnrepresentable, "differences of the rows of Q overflow")
			}
		}
		s.length[i] = blas64.Nrm2(blas64.Vector{N: s.k, Inc: 1, Data: row})
		s.radius = max(s.radius, s.length[i])
	}
	return nil
}

// addPairs sets S_i and V_i for all public rows x, from the products of pieceRows of
// them with all others at a time.
func (s *surroundings) addPairs(ctx context.Context, x blas64.General, labels []int32) error {
	const pieceRows = 64
	n := s.n
	dots := make([]float64, min(pieceRows, n)*n)
	pull := make([]accumulator, s.k)
	for lo := 0; lo < n; lo += pieceRows {
		if err := ctx.Err(); err != nil {
			return err
		}
		m := min(pieceRows, n-lo)
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, blas64.General{Rows: m, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride:]},
			x, 0, blas64.General{Rows: m, Cols: n, Stride: n, Data: dots})
		for i := lo; i < lo+m; i++ {
			s.addRow(i, dots[(i-lo)*n:][:n], s.classes[s.class[labels[i]]], pull)
		}
	}
	return nil
}

// addRow sets S_i and V_i from the products of row i with all public rows and the row of
// the label table for its class. pull is memory for the sums.
func (s *surroundings) addRow(i int, dots, table []float64, pull []accumulator) {
	var degree accumulator
	pullError := 0.0
	clear(pull)
	own := s.apart[i*s.k:][:s.k]
	for j := range s.n {
		if j == i {
			continue
		}
		d2 := min(max(2-2*dots[j], 0), 4)
		w, u := math.Exp(-d2*s.lv.null), s.alpha*table[s.label[j]]
		degree.add(w)
		for c, v := range s.apart[j*s.k:][:s.k] {
			pull[c].add(w*v + u*(own[c]-v))
		}
		pullError += 2*s.weightError*w*s.length[j] + tableError*math.Abs(u)*(s.length[i]+s.length[j])
	}
	s.degree[i] = degree.sum()
	s.pullError[i] = pullError
	for c := range pull {
		s.pull[i*s.k+c] = pull[c].sum()
	}
}

// position returns the number of public row i in Q, where r is the private row.
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
func (s *surroundings) tabulate(ctx context.Context, labels []int32, table entries) error {
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
		return refuse(errTable, "%d classes by %d public labels are too many to keep in memory", table.classes, len(distinct))
	}
	seen := make(map[string]int)
	s.class = make([]int, table.classes)
	key := make([]byte, 0, 16*len(distinct))
	for y := range s.class {
		if err := ctx.Err(); err != nil {
			return err
		}
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
		if err := ctx.Err(); err != nil {
			return err
		}
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
	// The norms of the rows differ from 1 by rowError at most; beta is taken
	// that much larger, which widens the interval of the degree.
	rowError := float64(4*d+64) * ulp
	xc := slices.Clone(x.Data)
	mean := centreColumns(xc, n, d)
	s.setEnds(min(1, blas64.Nrm2(blas64.Vector{N: d, Inc: 1, Data: mean})+rowError))
	if n == 1 {
		return 0, nil // p has a single weight
	}

	qc := slices.Clone(s.apart)
	centreColumns(qc, n, k)
	qNorm, err := spectralNorm(qc, n, k, nil)
	if err != nil {
		return 0, err
	}
	xNorm, err := spectralNorm(xc, n, d, nil)
	if err != nil {
		return 0, err
	}
	cross, err := crossNorm(qc, xc, n, k, d)
	if err != nil {
		return 0, err
	}
	// The errors of centring and of the products.
	qFrob, xFrob := frobeniusOf(qc), frobeniusOf(xc)
	qError, xError := 8*ulp*math.Sqrt(rows*float64(k))*s.radius, rowError*math.Sqrt(rows)
	cross += (rows+8)*ulp*qFrob*xFrob + qError*xFrob + xError*qFrob
	qNorm += qError
	xNorm += xError
	inverse := 2 * s.lv.null // 1/sigma^2
	pm := 0.0
	for i := range n {
		pm = max(pm, inverse*(blas64.Nrm2(blas64.Vector{N: d, Inc: 1, Data: xc[i*d:]})+rowError))
	}
	phi := math.Sinh(s.lv.low/2) * qNorm / math.Sqrt(rows)
	if psi := (cross + 0.5*pm*math.Exp(pm)*xNorm*qNorm) * inverse / rows; psi < phi {
		phi = psi // false where e^pm overflows
	}
	return phi, nil
}

// setEnds sets the ends of the inverse degree of a unit row r, times n, and their
// differences from each other and from the inverse degree of the null record.
func (s *surroundings) setEnds(beta float64) {
	inverse := 2 * s.lv.null // 1/sigma^2
	h := -math.Expm1(-s.lv.low) * (1 - beta) / 2
	s.lo, s.hi = math.Exp((1+beta)*inverse), 1/(1-h)
	s.between = math.Expm1((1+beta)*inverse) - h/(1-h)
	s.nullLo = expGap((1+beta)*inverse, s.lv.null)
	s.nullHi = math.Expm1(s.lv.null) - h/(1-h)
	s.endError = 16 * ulp * (s.between + h/(1-h)) * (1 + s.lv.low)
}

// crossNorm returns |q^T x|_2 of an n x k and an n x d matrix.
func crossNorm(q, x []float64, n, k, d int) (float64, error) {
	cross := make([]float64, k*d)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, blas64.General{Rows: n, Cols: k, Stride: k, Data: q},
		blas64.General{Rows: n, Cols: d, Stride: d, Data: x}, 0, blas64.General{Rows: k, Cols: d, Stride: d, Data: cross})
	return spectralNorm(cross, k, d, nil)
}

// state is a state of the private record.
type state struct {
	class int // index into surroundings.classes
	null  bool
}

// largest returns 4 Delta^2, the largest over the pairs of states.
func (s *surroundings) largest(ctx context.Context, relation Relation, label int32, phi float64) (float64, error) {
	switch relation {
	case FeaturesNull:
		stays := s.class[label]
		return s.pair(state{stays, true}, state{stays, false}, phi), nil
	case FeaturesReplace:
		stays := s.class[label]
		return s.pair(state{stays, false}, state{stays, false}, phi), nil
	}
	best := 0.0
	for a := range s.classes {
		if err := ctx.Err(); err != nil {
			return 0, err
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
