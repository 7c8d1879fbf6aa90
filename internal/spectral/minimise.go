package spectral

import (
	"math"
	"slices"
)

const (
	minimiseMemory = 10   // number of pairs of a step and a change of the gradient kept
	sufficient     = 1e-4 // share of the promised descent that a step must bring
	smallest       = 1e-6 // relative descent below which a run ends
)

// minimise moves x to a minimum of a function by limited-memory quasi-Newton steps
// (Nocedal 1980) that begin with the given curvature of each number. value returns the
// function at x and sets its gradient. A step that does not descend enough is halved.
// minimise ends after the given number of steps, or when a step brings little.
func minimise(x, curvature []float64, steps int, value func(gradient []float64) (float64, error)) error {
	gradient := make([]float64, len(x))
	now, err := value(gradient)
	if err != nil {
		return err
	}
	var q quasiNewton
	from, before := make([]float64, len(x)), make([]float64, len(x))
	for range steps {
		direction := q.direction(gradient, curvature)
		slope := dot(direction, gradient)
		if !(slope < 0) { // at a minimum, or where all digits are lost
			return nil
		}
		copy(from, x)
		copy(before, gradient)
		last, length := now, 1.0
		for {
			for i := range x {
				x[i] = from[i] + length*direction[i]
			}
			if now, err = value(gradient); err != nil {
				return err
			}
			if now <= last+sufficient*length*slope {
				break
			}
			if length /= 2; length < 1e-10 {
				copy(x, from)
				return nil
			}
		}
		q.remember(x, from, gradient, before)
		if last-now <= smallest*max(1, math.Abs(now)) {
			return nil
		}
	}
	return nil
}

// quasiNewton has the last steps and their changes of the gradient, the oldest first.
type quasiNewton struct {
	step, change [][]float64
}

// remember keeps a step, unless the function does not curve upwards along it.
func (q *quasiNewton) remember(x, from, gradient, before []float64) {
	step, change := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		step[i], change[i] = x[i]-from[i], gradient[i]-before[i]
	}
	if dot(step, change) <= 1e-12*math.Sqrt(dot(step, step)*dot(change, change)) {
		return
	}
	if len(q.step) == minimiseMemory {
		q.step, q.change = slices.Delete(q.step, 0, 1), slices.Delete(q.change, 0, 1)
	}
	q.step, q.change = append(q.step, step), append(q.change, change)
}

// direction returns minus the product of the estimated inverse curvature and the gradient.
func (q *quasiNewton) direction(gradient, curvature []float64) []float64 {
	d := slices.Clone(gradient)
	share := make([]float64, len(q.step))
	for r := len(q.step) - 1; r >= 0; r-- {
		share[r] = dot(q.step[r], d) / dot(q.step[r], q.change[r])
		addScaled(d, -share[r], q.change[r])
	}
	for i := range d {
		d[i] /= curvature[i]
	}
	for r := range q.step {
		addScaled(d, share[r]-dot(q.change[r], d)/dot(q.step[r], q.change[r]), q.step[r])
	}
	for i := range d {
		d[i] = -d[i]
	}
	return d
}

func dot(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func addScaled(dst []float64, factor float64, x []float64) {
	for i, v := range x {
		dst[i] += factor * v
	}
}
