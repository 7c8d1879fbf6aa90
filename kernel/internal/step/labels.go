package step

import "math"

// Labels are what a step needs of the labels of n rows: with N_c rows in class c and S_c
// the sum of their rows of X,
//
//	(L_Y X)_i = (K N)_c x_i - (K S)_c,   c the class of row i.
type Labels struct {
	Class   []uint32 // of each row; NoClass where unlabelled
	counts  []int    // rows of each class
	table   string   // the name of K
	Weights *ClassWeights
	Weight  []float64 // (K N)_c
	Degree  []float64 // L_Y,ii of a row of class c: (K N)_c - K_cc
}

// NoClass is the class of a row without a label.
const NoClass = math.MaxUint32

// NewLabels returns the labels of rows of the given classes.
func NewLabels(class []uint32, counts []int, table string, weights *ClassWeights) Labels {
	l := Labels{Class: class, counts: counts, table: table, Weights: weights}
	l.setDegrees()
	return l
}

func (l *Labels) setDegrees() {
	n := make([]float64, len(l.counts))
	for c, v := range l.counts {
		n[c] = float64(v)
	}
	l.Weight = make([]float64, len(n))
	l.Weights.MulTo(l.Weight, n, make([]float64, 1), 1)
	l.Degree = make([]float64, len(n))
	for c := range n {
		l.Degree[c] = l.Weight[c] - l.Weights.Constant
		if at := c - l.Weights.First[c]; at >= 0 && at < len(l.Weights.Row(c)) {
			l.Degree[c] -= l.Weights.Row(c)[at]
		}
	}
}

// N returns the number of rows.
func (l *Labels) N() int { return len(l.Class) }

// classes returns the number of classes, 0 for no labels at all.
func (l *Labels) classes() int {
	if l == nil {
		return 0
	}
	return len(l.counts)
}

// signed reports whether some weight is negative, as in the centred table:
// the objective may then rise.
func (l *Labels) signed() bool { return l.Weights.Minimum < 0 }
