package modes

import (
	"context"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// What the variants reach on the digits, R@1, R@8 and P@8: the recipe, which is the
// promise, as a mean of three seeds, the others, its frame, with the first seed and
// .01 or more below what was measured.
func TestAblationOnDigits(t *testing.T) {
	floor := map[string][3]float64{
		"prepared rows":                 {0.965, 0.985, 0.930},
		"map only":                      {0.970, 0.985, 0.940},
		"recipe":                        {0.975, 0.990, 0.955},
		"labels on half of the gallery": {0.970, 0.985, 0.955},
		"labels on public rows only":    {0.965, 0.985, 0.950},
		"no labels":                     {0.965, 0.985, 0.940},
		"two steps":                     {0.960, 0.975, 0.950},
		"labels only":                   {0.970, 0.985, 0.955},
		"8 dimensions":                  {0.945, 0.975, 0.935},
		"16 dimensions":                 {0.965, 0.980, 0.955},
		"32 dimensions":                 {0.975, 0.985, 0.955},
		"converged, all labels":         {0.960, 0.965, 0.960},
		"converged, no labels":          {0.950, 0.960, 0.930},
	}
	e := newEngine(t)
	mean := map[string][3]float64{}
	const promise, seeds = "recipe", 3
	for seed := uint64(1); seed <= seeds; seed++ {
		task, queryLabels := digitsTask(t, seed, 0)
		for _, v := range variants() {
			share := 1.0
			if v.name == promise {
				share = 1. / seeds
			} else if seed > 1 {
				continue
			}
			s := scores(t, v, e, task, queryLabels)
			m := mean[v.name]
			for i, f := range [3]float64{s.At[0].Recall, s.At[1].Recall, s.At[1].Precision} {
				m[i] += share * f
			}
			mean[v.name] = m
		}
	}
	for _, v := range variants() {
		got, want := mean[v.name], floor[v.name]
		t.Logf("%-30s R@1 %.3f  R@8 %.3f  P@8 %.3f", v.name, got[0], got[1], got[2])
		for i := range want {
			if want[i] == 0 || got[i] < want[i] {
				t.Errorf("%s, figure %d: %.4f, want at least %.3f", v.name, i, got[i], want[i])
			}
		}
	}
}

// Not one bit of a placement depends on the labels of the queries: a task with
// them places its rows as one without. What they change is the score.
func TestQueryLabelsOnlyScore(t *testing.T) {
	e := newEngine(t)
	task, queryLabels := digitsTask(t, 1, 0)
	permuted := slices.Clone(queryLabels)
	slices.Reverse(permuted)
	seeing := *task
	seeing.QueryLabels = permuted
	for _, v := range variants() {
		place := func(task *evaluate.Task) (queries, gallery *mat.Dense) {
			queries, gallery, err := v.place(context.Background(), e, task)
			if err != nil {
				t.Fatal(err)
			}
			return queries, gallery
		}
		queries, gallery := place(task)
		again, same := place(&seeing)
		if !mat.Equal(queries, again) || !mat.Equal(gallery, same) {
			t.Errorf("%s: the placement changed", v.name)
		}
		if v.name != "recipe" {
			continue
		}
		if r := scores(t, v, e, task, permuted).At[0].Recall; r > 0.2 {
			t.Errorf("R@1 %.3f with labels of other queries, want chance", r)
		}
	}
}

func newEngine(t *testing.T) *privatemail.Engine {
	e, err := privatemail.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// scores returns R@1, R@8 and P@8 of a variant.
func scores(t *testing.T, v variant, e *privatemail.Engine, task *evaluate.Task, queryLabels []int32) *evaluate.Scores {
	t.Helper()
	queries, gallery, err := v.place(t.Context(), e, task)
	if err != nil {
		t.Fatalf("%s: %v", v.name, err)
	}
	ranking, err := task.Search(t.Context(), queries, gallery)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ranking.Score(queryLabels, task.GalleryLabels, 1, 8)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
