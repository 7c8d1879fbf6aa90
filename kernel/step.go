package kernel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// A Form is one of the two ways the label term enters the step; the package
// comment has the formulas.
type Form int

// The forms of the step.
const (
	Paper   Form = iota // X + 1/2 Diag(L_X)^+ (alpha L_Y - L_X) X
	Attract             // X - 1/2 Diag(L)^+ L X,  L = L_X/dbar + beta L_Y
)

func (f Form) String() string {
	switch f {
	case Paper:
		return "paper"
	case Attract:
		return "attract"
	}
	return fmt.Sprintf("Form(%d)", int(f))
}

// A Step says which step to take.
type Step struct {
	Form Form
	// Labels is L_Y, rows in the operator's order; nil leaves the label term out.
	Labels *Labels
	// Coefficient is alpha in form Paper, of any sign, and beta >= 0 in form
	// Attract.
	Coefficient float64
}

// Check refuses a step that has no meaning for n rows.
func (s *Step) Check(n int) error {
	if math.IsNaN(s.Coefficient) || math.IsInf(s.Coefficient, 0) {
		return fmt.Errorf("kernel: step: coefficient: %w", ErrNonFinite)
	}
	if s.Form != Paper && s.Form != Attract {
		return fmt.Errorf("kernel: step: %w: %v", ErrOption, s.Form)
	}
	if s.Form == Attract && s.Coefficient < 0 {
		return fmt.Errorf("kernel: step: %w: form attract wants a coefficient of 0 or more, not %g", ErrOption, s.Coefficient)
	}
	if s.Labels == nil {
		return nil
	}
	if s.Labels.N() != n {
		return fmt.Errorf("kernel: step: %w: %d labels for %d rows", ErrLabels, s.Labels.N(), n)
	}
	if s.Form == Attract && s.Labels.Signed() {
		return fmt.Errorf("kernel: step: %w: form attract divides by the label degree and cannot use the table %s, which has negative weights", ErrTable, s.Labels.Table().Name())
	}
	return nil
}

// Stats carries the sums one step needs from the one before, and reports what
// the step saw. It also keeps the step's scratch memory, so a run uses one
// Stats from beginning to end and concurrent runs use one each. The zero value
// is ready for Gather.
type Stats struct {
	// Objective is v of the step's input.
	Objective float64
	// Change is |dst - x|^2, summed over all entries.
	Change float64
	// Spread is the sum over all entries of (dst - Mean)^2.
	Spread float64
	// MaxAbs is the largest |dst|, +Inf if an entry is not finite.
	MaxAbs float64
	// Mean holds the column means of dst.
	Mean []float64

	labels    *Labels
	n, k      int
	classSums []float64 // sums of dst by class, classes x k
	finish    finish
	partials  partials
	operator  any // scratch the operator keeps here
}

// Gather sets the sums from x, the iterate a run starts from.
func (st *Stats) Gather(x blas32.General, labels *Labels) error {
	return gather(st, block32(x), labels)
}

// Gather64 is Gather for an iterate in float64.
func (st *Stats) Gather64(x blas64.General, labels *Labels) error {
	return gather(st, block64(x), labels)
}

func gather[T float](st *Stats, x block[T], labels *Labels) error {
	if err := x.check("x"); err != nil {
		return err
	}
	if labels != nil && labels.N() != x.rows {
		return fmt.Errorf("kernel: gather: %w: %d labels for %d rows", ErrLabels, labels.N(), x.rows)
	}
	if err := checkFinite("x", x); err != nil {
		return err
	}
	st.labels, st.n, st.k = labels, x.rows, x.cols
	st.Objective, st.Change = 0, 0
	st.Mean = resize(st.Mean, x.cols)
	st.classSums = resize(st.classSums, labels.classes()*x.cols)
	for i := range x.rows {
		row := x.row(i)
		for c, v := range row {
			st.Mean[c] += float64(v)
		}
		if labels != nil && labels.class[i] != noClass {
			sums := st.classSums[int(labels.class[i])*x.cols:]
			for c, v := range row {
				sums[c] += float64(v)
			}
		}
	}
	for c := range st.Mean {
		st.Mean[c] /= float64(x.rows)
	}
	st.Spread, st.MaxAbs = 0, 0
	for i := range x.rows {
		for c, v := range x.row(i) {
			d := float64(v) - st.Mean[c]
			st.Spread += d * d
			st.MaxAbs = max(st.MaxAbs, math.Abs(float64(v)))
		}
	}
	return nil
}

// Transform tells st that the iterate was mapped to (x - shift) scale.
func (st *Stats) Transform(shift []float64, scale float64) {
	for c := range st.Mean {
		st.Mean[c] = (st.Mean[c] - shift[c]) * scale
	}
	for class := range st.labels.classes() {
		count := float64(st.labels.counts[class])
		for c := range st.k {
			s := &st.classSums[class*st.k+c]
			*s = (*s - count*shift[c]) * scale
		}
	}
	st.Spread *= scale * scale
}

// classes returns the number of classes, 0 for no labels at all.
func (l *Labels) classes() int {
	if l == nil {
		return 0
	}
	return len(l.values)
}

// finish turns a row of W x into a row of the next iterate. It is the same for
// every operator: they differ in how they get W x.
type finish struct {
	labels  *Labels
	scale   float64   // of L_X: 1, or 1/dbar in form Attract
	pull    float64   // factor of l_i: alpha, or -beta
	attract bool      // the label degree enters the diagonal
	mean    []float64 // of the input
	sums    []float64 // centred class sums of the input
	target  []float64 // K times sums
	total   []float64 // scratch of k
}

// begin prepares the finish and the partial sums of one step over rows cut at
// bounds. It returns an error when st does not hold the sums of such an x.
func (st *Stats) begin(s *Step, degrees []float64, bounds []int, k int) error {
	if err := s.Check(len(degrees)); err != nil {
		return err
	}
	if st.n != len(degrees) || st.k != k || st.labels != s.Labels {
		return fmt.Errorf("kernel: step: %w: Stats hold the sums of another iterate; call Gather first", ErrShape)
	}
	f := &st.finish
	f.labels = s.Labels
	f.scale, f.pull, f.attract = 1, s.Coefficient, s.Form == Attract
	if f.attract {
		f.pull = -s.Coefficient
		sum := 0.0
		for _, d := range degrees {
			sum += d
		}
		f.scale = 0
		if sum > 0 {
			f.scale = float64(len(degrees)) / sum
		}
	}
	f.mean = append(f.mean[:0], st.Mean...)
	f.sums = append(f.sums[:0], st.classSums...)
	f.target = resize(f.target, len(f.sums))
	f.total = resize(f.total, k)
	if s.Labels != nil {
		for class, count := range s.Labels.counts {
			for c := range k {
				f.sums[class*k+c] -= float64(count) * f.mean[c]
			}
		}
		s.Labels.weights.mulTo(f.target, f.sums, f.total, k)
	}
	st.partials.prepare(s.Labels, bounds, k)
	return nil
}

// finishRow writes row i of the next iterate to dst, given (W x)_i in wx, and
// adds what it sees to the partial sums of its chunk.
//
// No d_i x_i is formed and subtracted from (W x)_i: x_i - m_i is small where
// the graph is smooth, and is computed as just that.
func finishRow[T float](f *finish, p *partial, i int, degree float64, wx []float64, x, dst []T) {
	laplace := degree * f.scale // diagonal of the scaled L_X
	diagonal, weight, class := laplace, 0.0, uint32(noClass)
	var target []float64
	if f.labels != nil {
		if class = f.labels.class[i]; class != noClass {
			weight = f.labels.weight[class]
			target = f.target[int(class)*len(x):][:len(x)]
			if f.attract {
				diagonal -= f.pull * f.labels.degree[class]
			}
		}
	}
	// The two parts of the step, each divided by the diagonal before it is
	// multiplied: a tiny degree must not underflow or overflow on the way.
	spring, tie := 0.0, 0.0
	if diagonal > 0 {
		spring, tie = 0.5*(laplace/diagonal), 0.5*(f.pull/diagonal)
	}
	classSums := p.classSums(i, len(x))
	for c, v := range x {
		value := float64(v)
		centred := value - f.mean[c]
		away, label := 0.0, 0.0 // x_i - m_i and l_i
		if degree > 0 {
			away = value - wx[c]/degree
		}
		next := value - spring*away
		if class != noClass && f.pull != 0 {
			label = weight*centred - target[c]
			next += tie * label
		}
		rounded := T(next)
		dst[c] = rounded
		moved := float64(rounded)
		p.objective += centred * (laplace*away - f.pull*label)
		p.change += (moved - value) * (moved - value)
		shifted := moved - f.mean[c]
		p.spread += shifted * shifted
		p.maxAbs = max(p.maxAbs, math.Abs(moved)) // max keeps a NaN
		p.sums[c] += moved
		if classSums != nil {
			classSums[c] += moved
		}
	}
}

// end adds the partial sums in chunk order and publishes them.
func (st *Stats) end() {
	st.Objective, st.Change, st.Spread, st.MaxAbs = 0, 0, 0, 0
	clear(st.Mean)
	clear(st.classSums)
	for chunk := range st.partials.chunk {
		p := &st.partials.chunk[chunk]
		st.Objective += p.objective
		st.Change += p.change
		st.Spread += p.spread
		st.MaxAbs = max(st.MaxAbs, p.maxAbs)
		for c, v := range p.sums {
			st.Mean[c] += v
		}
		for e, class := range p.classes {
			sums := st.classSums[int(class)*st.k:]
			for c, v := range p.class[e*st.k:][:st.k] {
				sums[c] += v
			}
		}
	}
	// Spread was gathered about the mean of the input.
	for c := range st.Mean {
		st.Mean[c] /= float64(st.n)
		shift := st.Mean[c] - st.finish.mean[c]
		st.Spread -= float64(st.n) * shift * shift
	}
	st.Spread = max(st.Spread, 0)
	if math.IsNaN(st.MaxAbs) {
		st.MaxAbs = math.Inf(1)
	}
}

// partials are the sums of one step, kept per chunk of rows. A chunk has class
// sums only for the classes that occur in it, so all together never take more
// than one float64 row per row of x, however many classes there are.
type partials struct {
	labels *Labels
	bounds []int
	k      int
	slot   []uint32 // of each row: index of its class among the chunk's classes
	chunk  []partial
}

type partial struct {
	objective, change, spread, maxAbs float64

	first   int       // row the chunk begins with
	slot    []uint32  // of the chunk's rows; nil without labels
	classes []uint32  // classes in the chunk, in order of appearance
	sums    []float64 // k column sums
	class   []float64 // len(classes) x k
}

const noSlot = math.MaxUint32

func (p *partial) classSums(i, k int) []float64 {
	if p.slot == nil {
		return nil
	}
	if s := p.slot[i-p.first]; s != noSlot {
		return p.class[int(s)*k:][:k]
	}
	return nil
}

// prepare lays out the chunks, or clears them if the layout is still right.
func (ps *partials) prepare(labels *Labels, bounds []int, k int) {
	if ps.chunk != nil && ps.labels == labels && ps.k == k && len(ps.bounds) == len(bounds) && &ps.bounds[0] == &bounds[0] {
		for i := range ps.chunk {
			p := &ps.chunk[i]
			p.objective, p.change, p.spread, p.maxAbs = 0, 0, 0, 0
			clear(p.sums)
			clear(p.class)
		}
		return
	}
	*ps = partials{labels: labels, bounds: bounds, k: k, chunk: make([]partial, len(bounds)-1)}
	if labels != nil {
		ps.slot = make([]uint32, labels.N())
	}
	seen := make([]uint32, labels.classes()) // slot of a class in the current chunk, plus one
	for i := range ps.chunk {
		p := &ps.chunk[i]
		p.first = bounds[i]
		p.sums = make([]float64, k)
		if labels == nil {
			continue
		}
		p.slot = ps.slot[bounds[i]:bounds[i+1]]
		for r := range p.slot {
			class := labels.class[p.first+r]
			if class == noClass {
				p.slot[r] = noSlot
				continue
			}
			if seen[class] == 0 {
				p.classes = append(p.classes, class)
				seen[class] = uint32(len(p.classes))
			}
			p.slot[r] = seen[class] - 1
		}
		for _, class := range p.classes {
			seen[class] = 0
		}
		p.class = make([]float64, len(p.classes)*k)
	}
}

// resize returns a zeroed slice of n values, reusing s where it can.
func resize(s []float64, n int) []float64 {
	if cap(s) < n {
		return make([]float64, n)
	}
	s = s[:n]
	clear(s)
	return s
}
