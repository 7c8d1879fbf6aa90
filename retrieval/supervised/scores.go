package supervised

import "math"

const (
	// listLength is the k of R@k and P@k.
	listLength = 8
	// longList is that of the average precision.
	longList = 100
)

// scores are what rows held out found under one recipe, one value of each goal a row, in the
// order in which a contest holds rows out. Average precision is there if it is the goal.
type scores struct {
	of      [goals][]float64
	nearest []int // the row that was found first
}

// rows is how many rows have scores.
func (s *scores) rows() int { return len(s.nearest) }

// add scores one more row: answers are the rows found, and members how many rows there are
// of its class.
func (s *scores) add(answers []int, labels []int32, label int32, members int) {
	hits, precision := 0, 0.0
	first, eight := 0.0, 0
	for place, row := range answers {
		if labels[row] == label {
			hits++
			precision += float64(hits) / float64(place+1)
			if place == 0 {
				first = 1
			}
			if place < listLength {
				eight++
			}
		}
	}
	s.nearest = append(s.nearest, answers[0])
	s.of[GoalR1] = append(s.of[GoalR1], first)
	s.of[GoalP8] = append(s.of[GoalP8], float64(eight)/float64(min(listLength, len(answers))))
	s.of[GoalR8] = append(s.of[GoalR8], float64(min(eight, 1)))
	if len(answers) > listLength {
		s.of[GoalMAP] = append(s.of[GoalMAP], precision/float64(min(members, len(answers))))
	} else {
		s.of[GoalMAP] = append(s.of[GoalMAP], 0)
	}
}

// recall returns the means over the rows that are picked, all of them where pick is nil.
func (s *scores) recall(pick func(i int) bool) Recall {
	var sums [goals]float64
	n := 0
	for i := range s.rows() {
		if pick == nil || pick(i) {
			n++
			for g := range sums {
				sums[g] += s.of[g][i]
			}
		}
	}
	for g := range sums {
		sums[g] /= float64(max(n, 1))
	}
	return Recall{At1: sums[GoalR1], At8: sums[GoalR8], P8: sums[GoalP8], MAP: sums[GoalMAP]}
}

// lead returns the mean difference of two lists of scores, and its standard error. A row that
// was held out more than once counts as one, by its mean: row has the number of each.
func lead(a, b []float64, row []int, rows int) (difference, standardError float64) {
	sums, times := make([]float64, rows), make([]float64, rows)
	for i := range a {
		sums[row[i]] += a[i] - b[i]
		times[row[i]]++
	}
	var n, sum, squares float64
	for i, d := range sums {
		if times[i] > 0 {
			d /= times[i]
			n++
			sum += d
			squares += d * d
		}
	}
	if n < 2 {
		return 0, math.Inf(1)
	}
	difference = sum / n
	return difference, math.Sqrt(max(squares/n-difference*difference, 0) / (n - 1))
}
