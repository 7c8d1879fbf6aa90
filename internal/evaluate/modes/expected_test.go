package modes

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// digitsTask returns the digits under a seed, and the labels of the queries, which
// no mode here sees.
func digitsTask(t *testing.T, seed uint64, epsilon float64) (*evaluate.Task, []int32) {
	t.Helper()
	x, y := digits.Load()
	d := &evaluate.Data{Name: "digits", Features: x, Labels: y, Division: evaluate.DivisionOf("digits", x.Rows)}
	p, err := evaluate.NewProblem(d, seed)
	if err != nil {
		t.Fatal(err)
	}
	split, err := d.Division.Split(y, seed)
	if err != nil {
		t.Fatal(err)
	}
	return &evaluate.Task{Problem: p, Params: evaluate.Params{Epsilon: epsilon}, Queries: p.Queries}, pick(y, split.Queries)
}

// pick returns the labels of a list of rows.
func pick(labels []int32, rows []int) []int32 {
	out := make([]int32, len(rows))
	for i, row := range rows {
		out[i] = labels[row]
	}
	return out
}

// retrieved is what the first 8 answers to a query are worth: the share that a
// search of the whole gallery finds, and R@1.
type retrieved struct{ overlap, first float64 }

// expected is the plain reference of mode cells. It holds the outcome of each
// query for each cell it may report, from which the figures at every epsilon
// follow without drawing anything: with p the probability that a query's own cell
// is reported,
//
//	p o_own + (1-p) (mean of o over the other cells).
type expected struct {
	cells   int
	own     []int       // the cell of each query
	homes   []int       // the cell of each gallery row
	outcome []retrieved // of query q with cell c at q*cells + c
	random  float64     // overlap of random rows, as many as a list has
	list    float64     // mean share of the gallery in a list

	labels, galleryLabels []int32
}

// newExpected asks for the list of every cell and ranks it for every query.
func newExpected(t *testing.T, task *evaluate.Task, labels []int32, s *cellSpaces) *expected {
	t.Helper()
	cells, err := server.NewCells(t.Context(), s.space.RawMatrix(), s.ranking.RawMatrix(), server.CellsSettings{Epsilon: task.Epsilon, Seed: task.Seed})
	if err != nil {
		t.Fatal(err)
	}
	book := cells.Codebook()
	hash, err := book.Hash()
	if err != nil {
		t.Fatal(err)
	}
	e := &expected{
		cells: book.Cells(), own: nearestCentres(book, s.queries), homes: nearestCentres(book, s.space),
		labels: labels, galleryLabels: task.GalleryLabels,
	}
	gallery, _ := s.ranking.Dims()
	lists := make([][]bool, e.cells)
	for c := range lists {
		lists[c] = make([]bool, gallery)
		answer, err := cells.Answer(&wire.CellsRequest{Codebook: hash, Cells: []uint32{uint32(c)}}, wire.Float32)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range answer.List(0) {
			lists[c][id] = true
			e.list += 1 / float64(gallery*e.cells)
		}
		if s.withBase {
			for _, id := range cells.Base(wire.Float32).IDs {
				lists[c][id] = true
			}
		}
	}
	size := int(math.Round(e.list * float64(gallery)))
	for q := range e.own {
		order := byDistance(s.queries.RawRowView(q), s.ranking)
		for _, list := range lists {
			e.outcome = append(e.outcome, e.score(q, order, list))
		}
		sample := make([]bool, gallery)
		for _, row := range random.Permutation(gallery, task.Seed<<32+uint64(q))[:size] {
			sample[row] = true
		}
		e.random += e.score(q, order, sample).overlap / float64(len(e.own))
	}
	return e
}

func nearestCentres(book *wire.Codebook, x *mat.Dense) []int {
	n, _ := x.Dims()
	out := make([]int, n)
	for i := range out {
		out[i] = kmeans.Nearest(x.RawRowView(i), book.Centres)
	}
	return out
}

// byDistance returns the rows of x by their distance from a query.
func byDistance(query []float64, x *mat.Dense) []int {
	n, _ := x.Dims()
	distance, order := make([]float64, n), make([]int, n)
	for i := range order {
		order[i], distance[i] = i, squaredDistance(query, x.RawRowView(i))
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b)) })
	return order
}

// score compares the first rows of a list with those of the gallery.
func (e *expected) score(q int, order []int, list []bool) (out retrieved) {
	found := 0
	for place, row := range order {
		if !list[row] {
			continue
		}
		if found == 0 && e.galleryLabels[row] == e.labels[q] {
			out.first = 1
		}
		if place < evaluate.ListLength {
			out.overlap += 1. / evaluate.ListLength
		}
		if found++; found == evaluate.ListLength {
			break
		}
	}
	return out
}

// odds returns the probabilities of the own cell and of each other one.
func (e *expected) odds(t *testing.T, epsilon float64) (own, other float64) {
	t.Helper()
	p, err := mechanism.Subset{Items: e.cells, Size: 1, Epsilon: epsilon}.Inclusion()
	if err != nil {
		t.Fatal(err)
	}
	return p, (1 - p) / float64(e.cells-1)
}

// at returns the means over all queries at an epsilon, and the variance of the
// overlap when every query is asked once.
func (e *expected) at(t *testing.T, epsilon float64) (mean retrieved, variance float64) {
	own, other := e.odds(t, epsilon)
	n := float64(len(e.own))
	for q, home := range e.own {
		var sum, squares float64
		for c, o := range e.outcome[q*e.cells : (q+1)*e.cells] {
			weight := other
			if c == home {
				weight = own
			}
			sum += weight * o.overlap
			squares += weight * o.overlap * o.overlap
			mean.first += weight * o.first / n
		}
		mean.overlap += sum / n
		variance += (squares - sum*sum) / (n * n)
	}
	return mean, variance
}

// guess returns how often a server that knows the labels of its gallery guesses
// the class of a query from the cell it reports: for each cell the class whose
// gallery rows would report it most often.
func (e *expected) guess(t *testing.T, epsilon float64) (share float64) {
	own, other := e.odds(t, epsilon)
	classes := numbers(e.galleryLabels)
	likelihood := mat.NewDense(e.cells, len(classes), nil)
	for i, class := range classes.of(e.galleryLabels) {
		for c := range e.cells {
			weight := other
			if c == e.homes[i] {
				weight = own
			}
			likelihood.RawRowView(c)[class] += weight
		}
	}
	for q, class := range classes.of(e.labels) {
		for c := range e.cells {
			row := likelihood.RawRowView(c)
			switch {
			case slices.Index(row, slices.Max(row)) != int(class):
			case c == e.own[q]:
				share += own
			default:
				share += other
			}
		}
	}
	return share / float64(len(e.own))
}

// The figures that mode cells has to reach on the digits, means of the seeds 1 to
// 5: lists of an eighth, without the base. Expected values, so nothing is random
// about them.
func TestCellsExpectedOnDigits(t *testing.T) {
	least := map[float64]float64{1: .21, 2: .39, 4: .76, 8: .95}
	overlap, random := make(map[float64]float64), make(map[float64]float64)
	for seed := uint64(1); seed <= 5; seed++ {
		for build, epsilons := range map[float64][]float64{1: {1, 2, 4}, 8: {8}} {
			task, labels := digitsTask(t, seed, build)
			e := newExpected(t, task, labels, &cellSpaces{space: task.Gallery, ranking: task.Gallery, queries: task.Queries})
			if e.list > 1.1/8 {
				t.Errorf("seed %d: the mean list is %.4f of the gallery", seed, e.list)
			}
			for _, epsilon := range epsilons {
				mean, _ := e.at(t, epsilon)
				overlap[epsilon] += mean.overlap / 5
				random[epsilon] += e.random / 5
				bound, err := mechanism.Ceiling{Answers: 1, Classes: 10}.Of(labels).Recall(epsilon)
				if guess := e.guess(t, epsilon); err != nil || guess > bound {
					t.Errorf("seed %d, epsilon %g: the class is guessed with %.3f, above %.3f: %v", seed, epsilon, guess, bound, err)
				}
			}
		}
	}
	for epsilon, want := range least {
		t.Logf("epsilon %g: overlap %.3f, no query %.3f", epsilon, overlap[epsilon], random[epsilon])
		if overlap[epsilon] < want {
			t.Errorf("epsilon %g: overlap %.3f, want %.2f", epsilon, overlap[epsilon], want)
		}
		if math.Abs(random[epsilon]-0.13) > 0.02 {
			t.Errorf("a random sample of an eighth has overlap %.3f", random[epsilon])
		}
	}
}

// At a vanishing epsilon the report says nothing: what is retrieved is what any
// cell gives, and the class is guessed as well as without it.
func TestCellsWithoutEpsilon(t *testing.T) {
	task, labels := digitsTask(t, 1, 1)
	e := newExpected(t, task, labels, &cellSpaces{space: task.Gallery, ranking: task.Gallery, queries: task.Queries})
	mean, _ := e.at(t, 1e-6)
	any := 0.0
	for _, o := range e.outcome {
		any += o.overlap / float64(len(e.outcome))
	}
	if math.Abs(mean.overlap-any) > 1e-5 || any > 0.16 {
		t.Errorf("overlap %g, any cell gives %g", mean.overlap, any)
	}
	if guess, most := e.guess(t, 1e-6), (mechanism.Ceiling{Answers: 1}).Of(labels).Mass; guess > most*1.00001 {
		t.Errorf("the class is guessed with %g, the commonest has %g", guess, most)
	}
}

// The mode itself, asked 20 times with fresh entropy, against the expectation
// within five standard errors, with the lists and with the base next to them: two
// checks, each wrong once in 1.7 million runs. A wrong epsilon is seen.
func TestCellsSampledAgainstExpected(t *testing.T) {
	longtest.Only(t)
	const rounds, queries = 20, 100
	task, labels := digitsTask(t, 2, 2)
	task.Queries = task.Queries.Slice(0, queries, 0, task.Queries.RawMatrix().Cols).(*mat.Dense)
	var firsts []float64
	for _, base := range []bool{false, true} {
		spaces := &cellSpaces{space: task.Gallery, ranking: task.Gallery, queries: task.Queries, withBase: base}
		e := newExpected(t, task, labels[:queries], spaces)
		sampled := 0.0
		for range rounds {
			a, err := askCells(t.Context(), task, spaces)
			if err != nil {
				t.Fatal(err)
			}
			overlap, err := evaluate.Overlap(a.Exact, a.Ranking, evaluate.ListLength)
			if err != nil {
				t.Fatal(err)
			}
			sampled += overlap / rounds
		}
		want, variance := e.at(t, 2)
		deviation := math.Sqrt(variance / rounds)
		z := (sampled - want.overlap) / deviation
		t.Logf("base %v: %.4f sampled, %.4f expected, z = %.2f", base, sampled, want.overlap, z)
		if !(math.Abs(z) < 5) {
			t.Errorf("base %v: sampled %.4f +- %.4f, expected %.4f", base, sampled, deviation, want.overlap)
		}
		if other, _ := e.at(t, 3); math.Abs(sampled-other.overlap)/deviation < 5 {
			t.Errorf("base %v: the test does not see another epsilon", base)
		}
		firsts = append(firsts, want.first)
	}
	if firsts[1] <= firsts[0]+0.2 {
		t.Errorf("R@1 %.3f with the base, %.3f without", firsts[1], firsts[0])
	}
}

// 8-subset selection on class means: what is expected stays below the ceiling,
// which selection with the true class attains, and is what the mode gets, within
// five standard errors. At an epsilon of 0.01 that is chance.
func TestSubsetAgainstExpected(t *testing.T) {
	for _, epsilon := range []float64{0.01, 2, 8} {
		task, labels := digitsTask(t, 1, epsilon)
		c, err := newClassMeans(t.Context(), task, task.Gallery, evaluate.ListLength)
		if err != nil {
			t.Fatal(err)
		}
		p, err := mechanism.Subset{Items: 10, Size: evaluate.ListLength, Epsilon: epsilon}.Inclusion()
		if err != nil {
			t.Fatal(err)
		}
		ceiling := evaluate.Ceiling(10, epsilon, 0)
		if math.Abs(p-ceiling) > 1e-12 {
			t.Errorf("epsilon %g: %g with the true class, ceiling %g", epsilon, p, ceiling)
		}
		// Another class than the released one is in the set next to it, or instead.
		const w = evaluate.ListLength
		other := (p*(w-1) + (1-p)*w) / 9
		var want, variance float64
		n := float64(len(labels))
		for q, label := range labels {
			hit := other
			if byDistance(task.Queries.RawRowView(q), c.means)[0] == int(label) {
				hit = p
			}
			want += hit / n
			variance += hit * (1 - hit) / (n * n)
		}
		if want > ceiling+1e-12 {
			t.Errorf("epsilon %g: %g expected, ceiling %g", epsilon, want, ceiling)
		}
		a, err := c.ask(t.Context(), task, task.Queries)
		if err != nil {
			t.Fatal(err)
		}
		s, err := a.Ranking.Score(labels, task.GalleryLabels, evaluate.ListLength)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.At[0].Recall; math.Abs(got-want) > 5*math.Sqrt(variance) {
			t.Errorf("epsilon %g: R@8 %g, expected %g", epsilon, got, want)
		}
	}
}
