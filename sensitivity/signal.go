package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Signal returns a scale to compare noise with: the root mean square entry of f
// for typical data, rows with equal features and the labels 0 .. classes-1 in
// turn. It follows from public numbers and bounds nothing.
//
// With all weights 1 and n = N-1,
//
//	f_i = q_i/2 + [ sum_{j != i} q_j + alpha sum_j T[y_i][y_j] (q_i - q_j) ]/(2n).
//
// Errors are those of Known that concern the query and Q.
func (query Query) Signal(q blas64.General) (float64, error) {
	s, err := signal(query, q)
	return s, named("signal", err)
}

func signal(query Query, q blas64.General) (float64, error) {
	if _, err := query.check(); err != nil {
		return 0, err
	}
	if err := checkMatrix("Q", q, 2); err != nil {
		return 0, err
	}
	weight, classes, err := query.Table.entries()
	if err != nil {
		return 0, err
	}
	t := newTypical(query.Alpha, q, min(classes, q.Rows))
	t.addLabels(query.Table, weight)
	return t.rootMeanSquare(), nil
}

// typical is the first step of rows with equal features and the labels 0 .. classes-1 in
// turn.
type typical struct {
	q       blas64.General
	alpha   float64
	classes int
	count   []float64 // rows of a class
	sums    []float64 // of the rows of Q of a class, classes x columns
	total   []float64 // of all rows of Q
	degree  []float64 // (T count)_c, the label degree of a row of class c
	pull    []float64 // (T sums)_c, classes x columns
}

// newTypical adds up the rows of Q, by class and all together.
func newTypical(alpha float64, q blas64.General, classes int) *typical {
	t := &typical{
		q: q, alpha: alpha, classes: classes,
		count: make([]float64, classes), sums: make([]float64, classes*q.Cols), total: make([]float64, q.Cols),
		degree: make([]float64, classes), pull: make([]float64, classes*q.Cols),
	}
	for i := range q.Rows {
		c := i % classes
		t.count[c]++
		for j, v := range q.Data[i*q.Stride:][:q.Cols] {
			t.sums[c*q.Cols+j] += v
			t.total[j] += v
		}
	}
	return t
}

// addLabels makes the label term of each class. Two classes that differ by more than
// width have the weight far; a loop over all pairs would take minutes for a table of
// many classes.
func (t *typical) addLabels(table Table, weight func(a, b int32) float64) {
	k := t.q.Cols
	width, far := bandOf(table, t.classes)
	for a := range t.classes {
		t.degree[a] = far * float64(t.q.Rows)
		for j := range k {
			t.pull[a*k+j] = far * t.total[j]
		}
		for b := max(0, a-width); b <= min(t.classes-1, a+width); b++ {
			w := weight(int32(a), int32(b)) - far
			t.degree[a] += w * t.count[b]
			for j := range k {
				t.pull[a*k+j] += w * t.sums[b*k+j]
			}
		}
	}
}

// entry returns f at row i and column j.
func (t *typical) entry(i, j int) float64 {
	n := float64(t.q.Rows - 1)
	c, v := i%t.classes, t.q.Data[i*t.q.Stride+j]
	return v/2 + (t.total[j]-v+t.alpha*(t.degree[c]*v-t.pull[c*t.q.Cols+j]))/(2*n)
}

// rootMeanSquare returns the root mean square of all entries. Entries are divided by
// the largest first: the squares of a tiny start underflow.
func (t *typical) rootMeanSquare() float64 {
	largest, squares := 0.0, 0.0
	for i := range t.q.Rows {
		for j := range t.q.Cols {
			largest = max(largest, math.Abs(t.entry(i, j)))
		}
	}
	if largest == 0 {
		return 0
	}
	for i := range t.q.Rows {
		for j := range t.q.Cols {
			v := t.entry(i, j) / largest
			squares += v * v
		}
	}
	return largest * math.Sqrt(squares/float64(t.q.Rows*t.q.Cols))
}

// bandOf returns the largest difference of two classes that have a weight of
// their own, and the weight of all other pairs. A Gaussian weight beyond 9
// Sigma is below 1e-17.
func bandOf(t Table, classes int) (width int, far float64) {
	switch t := t.(type) {
	case Equal:
		return 0, 0
	case Different:
		return 0, 1
	case Gaussian:
		return int(min(float64(classes), math.Ceil(9*t.Sigma))), 0
	}
	return classes, 0
}
