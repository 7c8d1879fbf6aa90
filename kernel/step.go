package kernel

import (
	"fmt"
	"math"
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
