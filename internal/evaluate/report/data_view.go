package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// dataView is a data set as the template sees it.
type dataView struct {
	Name, Facts                                             string
	Open, Published, Noise, Recall8, Recall1, Fetch, Volume *table
	Sealed, Promised                                        *table
	Charts, Effects                                         []figure
	Missing                                                 []string // which figures there are not, and why
	Promises                                                []string // what the table Promised means, mode by mode
}

func (d *dataset) view() dataView {
	return dataView{
		Name: d.name, Facts: d.facts(),
		Open: d.open(), Published: d.published(), Noise: d.noise(), Fetch: d.fetch(), Volume: d.volume(), Sealed: d.sealed(),
		Promised: d.promised(), Promises: d.promises(),
		Recall8: d.recall(evaluate.RecallAt8, evaluate.RandomRecall8), Recall1: d.recall(evaluate.RecallAt1, evaluate.RandomRecall1),
		Charts: d.charts(), Effects: d.effects(), Missing: d.reasons(),
	}
}

func (d *dataset) facts() string {
	all := slices.Concat(d.all, d.missing)
	s := all[0]
	asked := make([]int, 0, len(all))
	for _, one := range all {
		asked = append(asked, one.Asked)
	}
	queries := strconv.Itoa(slices.Max(asked))
	if low := slices.Min(asked); low < slices.Max(asked) {
		queries = fmt.Sprintf("%d to %s", low, queries)
	}
	return fmt.Sprintf("%d gallery rows of %d classes, %s queries for each of %s.", s.Gallery, s.Classes, queries, count(s.Seeds, "seed"))
}

// count prints a number of things, such as "1 seed" and "3 seeds".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
