package modes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

const subsetProtects = "The whole record of the query, pure epsilon (delta = 0), replace-one: the server learns a set of classes that holds the one of the nearest class mean with a known probability."

// Subset releases 8 classes by subset selection around the class mean nearest to
// the query and gets one row of each: the mechanism that attains the ceiling when
// the nearest mean is always the right one.
func Subset() evaluate.Mode {
	return subsetMode("subset", "8-subset selection on class means", evaluate.ListLength)
}

// Response is randomised response: one class, and 8 rows of it.
func Response() evaluate.Mode {
	return subsetMode("response", "randomised response on class means", 1)
}

func subsetMode(name, title string, size int) evaluate.Mode {
	return evaluate.Mode{
		Name: name, Title: title, Protects: subsetProtects, Bounded: true,
		Uses: evaluate.UsesEpsilon, Defaults: evaluate.Params{Epsilon: 1},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			s, err := fitted(ctx, t)
			if err != nil {
				return nil, err
			}
			queries, err := s.fit.Map.Apply(t.Queries.RawMatrix())
			if err != nil {
				return nil, err
			}
			return askClasses(ctx, t, newClassMeans(s.x, t.GalleryLabels), queries, size)
		},
	}
}

// classMeans is what a server publishes, and the rows of each class, those
// nearest to its mean first.
type classMeans struct {
	x, means *mat.Dense
	rows     [][]int
}

func newClassMeans(x *mat.Dense, labels []int32) *classMeans {
	classes := numbers(slices.DeleteFunc(slices.Clone(labels), func(l int32) bool { return l < 0 }))
	_, d := x.Dims()
	c := &classMeans{x: x, means: mat.NewDense(len(classes), d, nil), rows: make([][]int, len(classes))}
	for i, class := range classes.of(labels) {
		if class >= 0 {
			c.rows[class] = append(c.rows[class], i)
		}
	}
	for class, rows := range c.rows {
		mean := c.means.RawRowView(class)
		for _, i := range rows {
			for j, v := range x.RawRowView(i) {
				mean[j] += v / float64(len(rows))
			}
		}
		c.sortByDistance(rows, mean)
	}
	return c
}

// sortByDistance puts the rows nearest to a point first.
func (c *classMeans) sortByDistance(rows []int, from []float64) {
	slices.SortStableFunc(rows, func(a, b int) int {
		return cmp.Compare(squaredDistance(from, c.x.RawRowView(a)), squaredDistance(from, c.x.RawRowView(b)))
	})
}

func squaredDistance(a, b []float64) (s float64) {
	for j, v := range a {
		s += (v - b[j]) * (v - b[j])
	}
	return s
}

// askClasses releases classes for each query; the 8 rows that come back are
// shared out evenly among them.
func askClasses(ctx context.Context, t *evaluate.Task, c *classMeans, queries *mat.Dense, size int) (*evaluate.Answer, error) {
	size = min(size, len(c.rows)-1) // of few classes, all but one
	subset := mechanism.Subset{Items: len(c.rows), Size: size, Epsilon: t.Epsilon}
	if err := subset.Check(); err != nil {
		return nil, err
	}
	near, err := evaluate.Nearest(ctx, queries.RawMatrix(), c.means.RawMatrix(), 1, &evaluate.SearchSettings{Workers: t.Workers})
	if err != nil {
		return nil, err
	}
	a := &evaluate.Answer{Ranking: &evaluate.Ranking{K: evaluate.ListLength}}
	for q := range near.Queries() {
		unit := mechanism.Unit{Kind: release.UnitRecord, Name: fmt.Sprintf("query %d", q)}
		chosen, err := mechanism.Select(mechanism.NoLedger, unit, subset, near.Row(q)[0])
		if err != nil {
			return nil, err
		}
		answers := make([]int, 0, evaluate.ListLength)
		for _, class := range chosen.Items {
			rows := c.rows[class]
			answers = append(answers, rows[:min(len(rows), evaluate.ListLength/size)]...)
		}
		c.sortByDistance(answers, queries.RawRowView(q)) // the client knows its features
		for len(answers) < evaluate.ListLength {
			answers = append(answers, -1) // a class with few rows
		}
		a.Ranking.Index = append(a.Ranking.Index, answers...)
	}
	p, err := subset.Inclusion()
	if err != nil {
		return nil, err
	}
	a.Facts = map[string]float64{"probability of the own class": p}
	return a, nil
}
