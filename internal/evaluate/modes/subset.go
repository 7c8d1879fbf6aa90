package modes

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

const subsetProtects = "The whole record of the query, pure epsilon (delta = 0), replace-one: the server learns a set of classes that holds the one of the nearest class mean with a known probability."

// Subset releases 8 classes by subset selection around the class mean nearest to
// the query and gets one row of each: the mechanism that attains the ceiling when
// the nearest mean is always the right one. Rows and means are those of the
// supervised embedding.
func Subset() evaluate.Mode {
	return classMode("subset", "8-subset selection on class means", evaluate.ListLength, embeddedRows)
}

// SubsetPrepared is Subset on the prepared rows.
func SubsetPrepared() evaluate.Mode {
	return classMode("subset-prepared", "8-subset selection, prepared rows", evaluate.ListLength, preparedRows)
}

// Response is randomised response: one class mean, and the 8 rows nearest to it,
// which may be of other classes. Where the nearest mean is often the wrong one,
// these find more than rows of its class do.
func Response() evaluate.Mode {
	return classMode("response", "randomised response on class means", 1, embeddedRows)
}

// ResponsePrepared is Response on the prepared rows.
func ResponsePrepared() evaluate.Mode {
	return classMode("response-prepared", "randomised response, prepared rows", 1, preparedRows)
}

// classMode releases size classes; rows says where gallery and queries lie.
func classMode(name, title string, size int, rows func(context.Context, *evaluate.Task) (gallery, queries *mat.Dense, err error)) evaluate.Mode {
	return evaluate.Mode{
		Name: name, Title: title, Protects: subsetProtects, Bounded: true,
		Uses: evaluate.UsesEpsilon, Defaults: evaluate.Params{Epsilon: 1},
		Run: func(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
			gallery, queries, err := rows(ctx, t)
			if err != nil {
				return nil, err
			}
			c, err := newClassMeans(ctx, t, gallery, size)
			if err != nil {
				return nil, err
			}
			return c.ask(ctx, t, queries)
		},
	}
}

func preparedRows(_ context.Context, t *evaluate.Task) (gallery, queries *mat.Dense, err error) {
	return t.Gallery, t.Queries, nil
}

func embeddedRows(ctx context.Context, t *evaluate.Task) (gallery, queries *mat.Dense, err error) {
	s, queries, err := placed(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	return s.x, queries, nil
}

// classMeans is what a server publishes, and the rows it sends for each class.
type classMeans struct {
	x, means *mat.Dense
	size     int // classes in a release
	rows     [][]int
}

// newClassMeans takes the means of the labelled rows of x. The 8 rows of an
// answer are shared out evenly among the classes released, those nearest to the
// mean first; with a single class all rows of x are candidates, not only its own.
func newClassMeans(ctx context.Context, t *evaluate.Task, x *mat.Dense, size int) (*classMeans, error) {
	classes := numbers(slices.DeleteFunc(slices.Clone(t.GalleryLabels), func(l int32) bool { return l < 0 }))
	if len(classes) < 2 {
		return nil, &evaluate.UnavailableError{Reason: "the gallery has fewer than two classes"}
	}
	n, d := x.Dims()
	c := &classMeans{
		x: x, means: mat.NewDense(len(classes), d, nil), rows: make([][]int, len(classes)),
		size: min(size, len(classes)-1), // of few classes, all but one
	}
	for i, class := range classes.of(t.GalleryLabels) {
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
		if size > 1 {
			c.sortByDistance(rows, mean)
			c.rows[class] = rows[:min(len(rows), evaluate.ListLength/c.size)]
		}
	}
	if size > 1 {
		return c, nil
	}
	k := min(evaluate.ListLength, n)
	near, _, err := nearest.Rows(ctx, c.means.RawMatrix(), x.RawMatrix(), k, nearest.Settings{Workers: t.Workers})
	if err != nil {
		return nil, err
	}
	for class := range c.rows {
		c.rows[class] = near[class*k : (class+1)*k]
	}
	return c, nil
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

// answers returns the rows sent for some classes, ranked by the client, who knows
// the features of its query.
func (c *classMeans) answers(classes []int, query []float64) []int {
	answers := make([]int, 0, evaluate.ListLength)
	for _, class := range classes {
		answers = append(answers, c.rows[class]...)
	}
	c.sortByDistance(answers, query)
	for len(answers) < evaluate.ListLength {
		answers = append(answers, -1) // classes with few rows
	}
	return answers
}

// ask releases classes for each query and ranks the rows that come back.
func (c *classMeans) ask(ctx context.Context, t *evaluate.Task, queries *mat.Dense) (*evaluate.Answer, error) {
	subset := mechanism.Subset{Items: len(c.rows), Size: c.size, Epsilon: t.Epsilon}
	if err := subset.Check(); err != nil {
		return nil, err
	}
	near, _, err := nearest.Rows(ctx, queries.RawMatrix(), c.means.RawMatrix(), 1, nearest.Settings{Workers: t.Workers})
	if err != nil {
		return nil, err
	}
	a := &evaluate.Answer{Ranking: &evaluate.Ranking{K: evaluate.ListLength}}
	for q, class := range near {
		unit := mechanism.Unit{Kind: release.UnitRecord, Name: fmt.Sprintf("query %d", q)}
		chosen, err := subset.Select(mechanism.NoLedger, unit, class)
		if err != nil {
			return nil, err
		}
		a.Ranking.Index = append(a.Ranking.Index, c.answers(chosen.Items, queries.RawRowView(q))...)
	}
	p, err := subset.Inclusion()
	if err != nil {
		return nil, err
	}
	a.Facts = map[string]float64{"probability of the own class": p}
	return a, nil
}
