package kernel

import "math"

// innerLabels are what a step needs of the labels of n rows: with N_c rows in class c and S_c
// the sum of their rows of X,
//
//	(L_Y X)_i = (K N)_c x_i - (K S)_c,   c the class of row i.
type innerLabels struct {
	class   []uint32 // of each row; noClass where unlabelled
	counts  []int    // rows of each class
	table   string   // the name of K
	weights *classWeights
	weight  []float64 // (K N)_c
	degree  []float64 // L_Y,ii of a row of class c: (K N)_c - K_cc
}

const noClass = math.MaxUint32

// newInnerLabels returns the labels of rows of the given classes.
func newInnerLabels(class []uint32, counts []int, table string, weights *classWeights) innerLabels {
	l := innerLabels{class: class, counts: counts, table: table, weights: weights}
	l.setDegrees()
	return l
}

func (l *innerLabels) setDegrees() {
	n := make([]float64, len(l.counts))
	for c, v := range l.counts {
		n[c] = float64(v)
	}
	l.weight = make([]float64, len(n))
	l.weights.mulTo(l.weight, n, make([]float64, 1), 1)
	l.degree = make([]float64, len(n))
	for c := range n {
		l.degree[c] = l.weight[c] - l.weights.constant
		if at := c - l.weights.first[c]; at >= 0 && at < len(l.weights.row(c)) {
			l.degree[c] -= l.weights.row(c)[at]
		}
	}
}

// N returns the number of rows.
func (l *innerLabels) N() int { return len(l.class) }

// classes returns the number of classes, 0 for no labels at all.
func (l *innerLabels) classes() int {
	if l == nil {
		return 0
	}
	return len(l.counts)
}

// signed reports whether some weight is negative, as in the centred table:
// the objective may then rise.
func (l *innerLabels) signed() bool { return l.weights.minimum < 0 }
