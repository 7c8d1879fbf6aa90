package supervised

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestScores(t *testing.T) {
	labels := []int32{0, 1, 0, 1, 2, 1, 1, 1, 1, 0}
	var s scores
	s.add([]int{4, 1, 3, 0, 2, 5, 6, 7}, labels, 1, 6)
	s.add([]int{0, 1, 3, 4}, labels, 0, 3)
	s.add([]int{4, 0, 2, 9, 1, 3, 5, 6, 7, 8}, labels, 1, 6) // a long list: its average precision counts
	want := scores{of: [goals][]float64{
		GoalR1: {0, 1, 0}, GoalP8: {5. / 8, 1. / 4, 4. / 8}, GoalR8: {1, 1, 1},
		GoalMAP: {0, 0, (1./5 + 2./6 + 3./7 + 4./8 + 5./9 + 6./10) / 6},
	}}
	for g := range want.of {
		for i, v := range want.of[g] {
			if math.Abs(s.of[g][i]-v) > 1e-12 {
				t.Errorf("%v of row %d: %g, want %g", Goal(g), i, s.of[g][i], v)
			}
		}
	}
	if s.nearest[0] != 4 || s.nearest[1] != 0 || s.rows() != 3 {
		t.Errorf("nearest %v", s.nearest)
	}
	if r := s.recall(func(i int) bool { return i < 2 }); r.At1 != 0.5 || r.At8 != 1 || r.P8 != (5./8+1./4)/2 || r.At(GoalP8) != r.P8 {
		t.Errorf("recall %+v", r)
	}
}

// The standard error is that of independent rows: a row that was held out twice is one.
func TestLead(t *testing.T) {
	const rows, turns = 400, 3
	random := rand.New(rand.NewPCG(5, 5))
	var a, b []float64
	var row []int
	var sum, squares float64
	for i := range rows {
		d := random.NormFloat64() + 0.3
		sum += d
		squares += d * d
		for range turns {
			x := random.NormFloat64()
			a, b, row = append(a, x+d), append(b, x), append(row, i)
		}
	}
	mean := sum / rows
	by, err := lead(a, b, row, rows)
	if math.Abs(by-mean) > 1e-9 || math.Abs(err-math.Sqrt((squares/rows-mean*mean)/(rows-1))) > 1e-9 {
		t.Errorf("lead %g, standard error %g", by, err)
	}
	if _, err := lead(a[:1], b[:1], row[:1], rows); !math.IsInf(err, 1) {
		t.Errorf("standard error of one row: %g", err)
	}
}

// compared returns a contest of entries whose rows find their class with a chance each, and
// purity lists.
func compared(n int, entries map[string][2]float64, names ...string) *contest {
	c := &contest{fitter: &fitter{settings: new(Settings)}, labels: make([]int32, n)}
	for i := range n {
		c.row = append(c.row, i)
	}
	for _, name := range names {
		r, err := ParseRecipe(name)
		if err != nil {
			panic(err)
		}
		random := rand.New(rand.NewPCG(9, 9)) // rows are as hard for one recipe as for another
		e := &entry{Recipe: r, field: true}
		for range n {
			hit := 0.0
			if random.Float64() < entries[name][0] {
				hit = 1
			}
			e.nearest = append(e.nearest, 0)
			e.of[GoalR1] = append(e.of[GoalR1], hit)
			e.of[GoalP8] = append(e.of[GoalP8], entries[name][1])
			e.of[GoalR8] = append(e.of[GoalR8], 1-entries[name][1]/10)
			e.of[GoalMAP] = append(e.of[GoalMAP], 0)
		}
		c.entries = append(c.entries, e)
	}
	return c
}

// The goal decides; of those within a standard error the purest lists do, unless steps made
// them pure; and the first one of equals is taken.
func TestChoice(t *testing.T) {
	found := map[string][2]float64{
		"raw": {.80, .70}, "scaled": {.80, .70}, "unit-rows": {.89, .60}, "root": {.90, .50},
		"root,steps=1": {.90, .95}, "unit-images": {.60, .99},
	}
	for _, c := range []struct {
		goal  Goal
		names []string
		want  string
	}{
		{GoalR1, []string{"raw", "scaled"}, "raw"},
		{GoalR1, []string{"scaled", "raw"}, "standardize"},
		{GoalR1, []string{"raw", "root", "unit-images"}, "root"},
		{GoalR1, []string{"raw", "unit-rows", "root"}, "root"}, // ahead by more than a standard error
		{GoalR1, []string{"root", "root,steps=1"}, "root"},
		{GoalP8, []string{"raw", "root", "unit-images"}, "unit-images"},
		{GoalR8, []string{"raw", "root", "unit-images"}, "root"},
	} {
		contest := compared(2000, found, c.names...)
		contest.goal = c.goal
		if got := contest.choice(nil); got.String() != c.want {
			t.Errorf("%v of %v: %v, want %s", c.goal, c.names, got, c.want)
		}
	}
	few := compared(20, found, "raw", "unit-rows", "root") // they cannot be told apart
	if got := few.choice(nil); got.String() != "raw" {
		t.Errorf("of 20 rows: %v", got)
	}
	better := compared(2000, map[string][2]float64{"root": {.80, .5}, "root,steps=1": {.90, .4}}, "root", "root,steps=1")
	if got := better.choice(nil); got.Steps != 1 {
		t.Errorf("steps that find more: %v", got)
	}
	if compared(10, nil).choice(nil) != nil {
		t.Error("a choice of nothing")
	}
}

// A recipe leaves where it is far behind, and one that stays does not.
func TestRace(t *testing.T) {
	found := map[string][2]float64{"raw": {.9, .5}, "root": {.6, .5}, "unit-rows": {.88, .5}}
	c := compared(1000, found, "raw", "root", "unit-rows")
	for _, e := range c.entries {
		c.race(e)
	}
	if c.entries[0].out || !c.entries[1].out || c.entries[2].out != (c.entries[2].recall(nil).At1 < c.entries[0].recall(nil).At1-3*0.0045) {
		t.Errorf("%v %v %v", c.entries[0].out, c.entries[1].out, c.entries[2].out)
	}
	c = compared(1000, found, "raw", "root")
	c.entries[1].stays = true
	if c.race(c.entries[1]); c.entries[1].out {
		t.Error("what stays has left")
	}
	c = compared(fewestHeld-1, found, "raw", "root")
	if c.race(c.entries[1]); c.entries[1].out {
		t.Error("so few rows tell nothing")
	}
}

// What is said of a choice is measured on rows that had no say in it: of recipes that find
// labels by chance alone, the best on the rows that choose is no better on the others.
func TestHeldIsOfOthers(t *testing.T) {
	const n, recipes = 4000, 40
	c := compared(n, nil)
	random := rand.New(rand.NewPCG(11, 11))
	for i := range n {
		c.tenth = append(c.tenth, i%tenths)
	}
	c.numbers = c.row
	best := 0.0
	for r := range recipes {
		e := &entry{Recipe: Recipe{Columns: r}, field: true}
		for range n {
			hit := float64(random.IntN(2))
			e.nearest = append(e.nearest, 0)
			for g := range e.of {
				e.of[g] = append(e.of[g], hit)
			}
		}
		best = max(best, e.recall(nil).At1)
		c.entries = append(c.entries, e)
	}
	c.entries = append(c.entries, &entry{Recipe: scaledRecipe(), out: true})
	// A tenth has 400 rows: its best recipe of 40 has about .55 there, .5 elsewhere. The figure is a
	// mean over all rows, whose standard deviation is .008.
	if held := c.held(c.choice(nil)); held.Chosen.At1 > 0.53 || held.Best[0].At1 < best || len(held.Best) < 3 || held.Tried != len(c.entries) {
		t.Errorf("%+v, the best one finds %g", held, best)
	}
}
