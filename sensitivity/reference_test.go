package sensitivity

import (
	"math"

	"gonum.org/v1/gonum/blas/blas64"
)

// data is a data set and a first step on it, computed by the definition: the
// reference against which the bounds are tested.
type data struct {
	features [][]float64
	null     []bool
	labels   []int32

	q         blas64.General
	alpha     float64
	feature   func(x, y []float64) float64
	null2     float64 // weight of a null record to a unit row
	label     func(a, b int32) float64
	classSize bool    // equality over the size of the class, in place of label
	tau       float64 // degree floor, 0 for none
}

// record is what one person contributes.
type record struct {
	x     []float64
	null  bool
	label int32
}

func slicesOf(m blas64.General) [][]float64 {
	rows := make([][]float64, m.Rows)
	for i := range rows {
		rows[i] = m.Data[i*m.Stride:][:m.Cols]
	}
	return rows
}

// set puts a record into row s.
func (d *data) set(s int, r record) {
	d.features[s], d.null[s], d.labels[s] = r.x, r.null, r.label
}

// change returns a copy with another record in row s.
func (d *data) change(s int, r record) *data {
	e := *d
	e.features = append([][]float64(nil), d.features...)
	e.null = append([]bool(nil), d.null...)
	e.labels = append([]int32(nil), d.labels...)
	e.set(s, r)
	return &e
}

func squared(x, y []float64) (d2 float64) {
	for i, v := range x {
		d2 += (v - y[i]) * (v - y[i])
	}
	return d2
}

func fullKernel(sigma float64) func(x, y []float64) float64 {
	return func(x, y []float64) float64 { return math.Exp(-squared(x, y) / (2 * sigma * sigma)) }
}

// cutKernel has a constant beyond the radius.
func cutKernel(sigma, radius, constant float64) func(x, y []float64) float64 {
	return func(x, y []float64) float64 {
		d2 := squared(x, y)
		if d2 > radius*radius {
			return constant
		}
		return math.Exp(-d2 / (2 * sigma * sigma))
	}
}

// step returns f = Q + 1/2 D^{-1} (alpha L_Y - L_X) Q, row by row, with the
// pseudo-inverse where a degree is zero.
func (d *data) step() []float64 {
	n, k := d.q.Rows, d.q.Cols
	w, u := make([]float64, n*n), make([]float64, n*n)
	size := make(map[int32]float64)
	for _, y := range d.labels {
		size[y]++
	}
	for i := range n {
		for j := range i {
			switch {
			case d.null[i] && d.null[j]:
				w[i*n+j] = 1
			case d.null[i] || d.null[j]:
				w[i*n+j] = d.null2
			default:
				w[i*n+j] = d.feature(d.features[i], d.features[j])
			}
			if !d.classSize {
				u[i*n+j] = d.label(d.labels[i], d.labels[j])
			} else if d.labels[i] == d.labels[j] {
				u[i*n+j] = 1 / size[d.labels[i]]
			}
			w[j*n+i], u[j*n+i] = w[i*n+j], u[i*n+j]
		}
	}
	return stepOf(w, u, d.q, d.alpha, d.tau, k)
}

// stepOf is the step for given weights.
func stepOf(w, u []float64, q blas64.General, alpha, tau float64, k int) []float64 {
	n := q.Rows
	f := make([]float64, n*k)
	sum := make([]float64, k)
	for i := range n {
		degree := 0.0
		clear(sum)
		qi := q.Data[i*q.Stride:][:k]
		for j := range n {
			if i == j {
				continue
			}
			degree += w[i*n+j]
			t := w[i*n+j] - alpha*u[i*n+j]
			for c, v := range q.Data[j*q.Stride:][:k] {
				sum[c] += t * (v - qi[c])
			}
		}
		degree = max(degree, tau)
		for c, v := range sum {
			f[i*k+c] = qi[c]
			if degree > 0 {
				f[i*k+c] += 0.5 * v / degree
			}
		}
	}
	return f
}

func distance(f, g []float64) float64 { return math.Sqrt(squared(f, g)) }

// distanceOn is the distance on some rows.
func distanceOn(f, g []float64, rows []int, k int) float64 {
	if rows == nil {
		return distance(f, g)
	}
	d2 := 0.0
	for _, i := range rows {
		d2 += squared(f[i*k:][:k], g[i*k:][:k])
	}
	return math.Sqrt(d2)
}
