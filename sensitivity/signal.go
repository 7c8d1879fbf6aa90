package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// Signal returns a scale to hold noise against: the root mean square entry of f
// for data that stand for any, rows with equal features and the labels 0 ..
// classes-1 in turn. It follows from public numbers, and bounds nothing.
//
// With all weights 1 and n = N-1,
//
//	f_i = q_i/2 + [ sum_{j != i} q_j + alpha sum_j T[y_i][y_j] (q_i - q_j) ]/(2n).
//
// Errors are those of Known that concern the query and Q.
func Signal(query Query, q blas64.General) (float64, error) {
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
	classes = min(classes, q.Rows)
	count := make([]float64, classes)
	sums := make([]float64, classes*q.Cols)
	total := make([]float64, q.Cols)
	for i := range q.Rows {
		c := i % classes
		count[c]++
		for j, v := range q.Data[i*q.Stride:][:q.Cols] {
			sums[c*q.Cols+j] += v
			total[j] += v
		}
	}
	// (T count)_c and (T sums)_c: the label term of a row of class c. Classes
	// further apart than the width have the weight far; a loop over all pairs
	// would take minutes for a table of many classes.
	degree := make([]float64, classes)
	pull := make([]float64, classes*q.Cols)
	width, far := bandOf(query.Table, classes)
	for a := range classes {
		degree[a] = far * float64(q.Rows)
		for j := range q.Cols {
			pull[a*q.Cols+j] = far * total[j]
		}
		for b := max(0, a-width); b <= min(classes-1, a+width); b++ {
			w := weight(int32(a), int32(b)) - far
			degree[a] += w * count[b]
			for j := range q.Cols {
				pull[a*q.Cols+j] += w * sums[b*q.Cols+j]
			}
		}
	}
	n := float64(q.Rows - 1)
	largest, squares := 0.0, 0.0
	entry := func(i, j int) float64 {
		c, v := i%classes, q.Data[i*q.Stride+j]
		return v/2 + (total[j]-v+query.Alpha*(degree[c]*v-pull[c*q.Cols+j]))/(2*n)
	}
	for i := range q.Rows {
		for j := range q.Cols {
			largest = max(largest, math.Abs(entry(i, j)))
		}
	}
	if largest == 0 {
		return 0, nil
	}
	for i := range q.Rows {
		for j := range q.Cols {
			v := entry(i, j) / largest // tiny starts have squares that underflow
			squares += v * v
		}
	}
	return largest * math.Sqrt(squares/float64(q.Rows*q.Cols)), nil
}

// bandOf returns how far apart classes can be and still have a weight of their
// own, and the weight of those further apart. A Gaussian weight beyond 9 Sigma
// is below 1e-17.
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
