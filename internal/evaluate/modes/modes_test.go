package modes

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/internal/random"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rows returns generated rows of many classes, so that ceilings are low.
func rows(t *testing.T) *evaluate.Data {
	t.Helper()
	x, y, err := synth.Classes(1500, 24, 40, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x.Data {
		x.Data[i] = v * v
	}
	return &evaluate.Data{Name: "rows", Features: x, Labels: y, Division: evaluate.Division{Public: 400, Gallery: 900}, Dimensions: 16}
}

func measure(t *testing.T, d *evaluate.Data, modes []evaluate.Mode, queries int, epsilons ...float64) []evaluate.Record {
	t.Helper()
	g := evaluate.Grid{Data: []*evaluate.Data{d}, Modes: modes, Seeds: []uint64{1}, Queries: queries, Epsilons: epsilons}
	cells, err := g.Cells()
	if err != nil {
		t.Fatal(err)
	}
	records, err := (&evaluate.Sweep{Data: g.Data, Modes: modes}).Run(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func TestEveryModeExplainsItself(t *testing.T) {
	seen := make(map[string]bool)
	for _, m := range All() {
		if seen[m.Name] || m.Name == "" || m.Title == "" || m.Protects == "" || m.Run == nil {
			t.Errorf("%+v", m)
		}
		seen[m.Name] = true
		if m.Bounded && !m.Uses.Has(evaluate.UsesEpsilon) {
			t.Errorf("%s is bounded by an epsilon that it does not have", m.Name)
		}
		if m.Assumes != "" && m.Uses.Has(evaluate.UsesEpsilon) {
			t.Errorf("%s has an epsilon next to an assumption", m.Name)
		}
		if m.SeesQueryLabels && m.Warning == "" && m.Name != "paper" {
			t.Errorf("%s sees labels and says nothing", m.Name)
		}
	}
}

// No mode whose label is protected exceeds the ceiling by more than chance: if the
// ceiling were its recall, what it found would not be one in ten million. 8 of 40
// classes make the ceiling bind.
func TestCeilingHolds(t *testing.T) {
	bounded := slices.DeleteFunc(All(), func(m evaluate.Mode) bool { return !m.Bounded || m.Name == "dsne" })
	for _, r := range measure(t, rows(t), bounded, 100, longtest.Pick([]float64{2}, []float64{0.5, 2}, []float64{0.5, 2})...) {
		ceiling := evaluate.Ceiling(r.Classes, r.Epsilon, r.Delta)
		found := r.Figures[evaluate.RecallAt8] * float64(r.Asked)
		if chance := (distuv.Binomial{N: float64(r.Asked), P: ceiling}).Survival(math.Round(found) - 1); chance < 1e-7 {
			t.Errorf("%s at epsilon %g: R@8 %.3f, ceiling %.3f", r.Mode, r.Epsilon, r.Figures[evaluate.RecallAt8], ceiling)
		}
	}
}

// Where features say nothing about labels, no mode that hides the label may
// retrieve the class: otherwise there is a path around the features.
func TestShuffledFeatures(t *testing.T) {
	longtest.Only(t)
	d := rows(t)
	order := random.Permutation(d.Features.Rows, 9)
	d.Labels = pick(d.Labels, order)
	honest := slices.DeleteFunc(All(), func(m evaluate.Mode) bool {
		return m.Warning != "" || m.Name == "dsne" || m.Name == "tsne" || m.Name == "smlq" ||
			m.Name == "ablation-32-dimensions" // of rows that have 16
	})
	for _, r := range measure(t, d, honest, 100, 8) {
		if v, ok := r.Figures[evaluate.RecallAt1]; !ok || v > 0.12 { // chance is 1/40
			t.Errorf("%s: R@1 %.3f of classes that features know nothing of", r.Mode, v)
		}
	}
}

// Parameters reach the published method: without steps to outgrow the start the
// label carries nothing, and with many the place of a row is its label.
func TestPublishedFollowsItsParameters(t *testing.T) {
	authors := publishedModes()[0]
	steps := func(n int) float64 {
		m := authors.With(evaluate.Params{Steps: n, Alpha: 2})
		return measure(t, rows(t), []evaluate.Mode{m}, 40)[0].Figures[evaluate.RecallAt8]
	}
	if few, many := steps(1), steps(12); few > 0.5 || many < 0.9 {
		t.Errorf("R@8 %.3f after a step, %.3f after 12", few, many)
	}
}

// At a large epsilon the nearest class mean is told as it is. Then 8-subset
// selection finds the class when that mean is its own, and randomised response,
// which gets the 8 rows around the mean, at least nearly as often.
func TestClassesAtLargeEpsilon(t *testing.T) {
	d := rows(t)
	p, err := evaluate.NewProblem(d, 1)
	if err != nil {
		t.Fatal(err)
	}
	task := &evaluate.Task{Problem: p, Params: evaluate.Params{Epsilon: 30}, Queries: p.Queries}
	c, err := newClassMeans(t.Context(), task, p.Gallery, 1)
	if err != nil {
		t.Fatal(err)
	}
	index, _, err := nearest.Rows(t.Context(), c.means.RawMatrix(), p.Gallery.RawMatrix(), evaluate.ListLength, nearest.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	exact := &evaluate.Ranking{K: evaluate.ListLength, Index: index}
	for class, got := range c.rows {
		if !slices.Equal(got, exact.Row(class)) {
			t.Fatalf("class %d: rows %v, nearest are %v", class, got, exact.Row(class))
		}
	}
	r := measure(t, d, []evaluate.Mode{SubsetPrepared(), ResponsePrepared()}, 0, 30)
	subset, response := r[0].Figures[evaluate.RecallAt8], r[1].Figures[evaluate.RecallAt8]
	if subset < 0.5 || response < subset-0.05 {
		t.Errorf("8-subset selection %.3f, randomised response %.3f", subset, response)
	}
	p.GalleryLabels = slices.Repeat([]int32{-1}, len(p.GalleryLabels))
	missing := new(*evaluate.UnavailableError)
	if _, err := newClassMeans(t.Context(), task, p.Gallery, 1); !errors.As(err, missing) {
		t.Errorf("a gallery without labels: %v", err)
	}
}

// The whole protocol of mode cells on the digits, with room for what is drawn: the
// least overlaps at epsilon 2 are six standard deviations below their exact means, .412
// (.023) for cells-prepared and .456 (.022) for cells.
func TestCellsOnDigits(t *testing.T) {
	longtest.Only(t)
	x, y := digits.Load()
	d := &evaluate.Data{Name: "digits", Features: x, Labels: y, Division: evaluate.DivisionOf("digits", x.Rows)}
	least := map[string]map[float64]float64{
		"cells-prepared": {2: .27, 8: .92},
		"cells":          {2: .32, 8: .92},
	}
	for _, r := range measure(t, d, []evaluate.Mode{Cells(), CellsPrepared()}, 0, 2, 8) {
		overlap, without := r.Figures[evaluate.OverlapAt8], r.Figures[evaluate.NoQueryOverlap8]
		if overlap < least[r.Mode][r.Epsilon] || overlap < without {
			t.Errorf("%s at epsilon %g: overlap %.3f, %.3f without a query", r.Mode, r.Epsilon, overlap, without)
		}
		// The same requests, with rows of int8: the draws are the same, and codes are near.
		if compact := r.Figures[evaluate.CompactOverlap8]; math.Abs(compact-overlap) > .01 {
			t.Errorf("%s at epsilon %g: overlap %.4f, %.4f of int8", r.Mode, r.Epsilon, overlap, compact)
		}
		if v := r.Volume; v.Int8.Query > .4*v.Float32.Query || v.Int8.Query < .2*v.Float32.Query || v.Int8.Once > v.Float32.Once || v.AllRows < v.Int8.Query*4 || v.AllRows > v.Int8.Query*12 {
			t.Errorf("%s at epsilon %g: %+v", r.Mode, r.Epsilon, v)
		}
		if share := r.Download / float64(r.Gallery); share < 0.12 || share > 1.1/8 {
			t.Errorf("%s at epsilon %g downloads %.4f", r.Mode, r.Epsilon, share)
		}
	}
	all := measure(t, d, []evaluate.Mode{Supervised(), AllRows()}, 0)
	s, whole := all[0], all[1]
	if v := whole.Figures[evaluate.OverlapAt8]; v < .985 || whole.Base != float64(whole.Gallery) || whole.Download != 0 || whole.Epsilon != 0 {
		t.Errorf("mode all: overlap %.4f, %g rows once and %g for a query", v, whole.Base, whole.Download)
	}
	if _, ok := whole.Figures[evaluate.NoQueryOverlap8]; ok {
		t.Error("mode all has a figure without a query: it has no query")
	}
	for _, m := range []evaluate.Metric{evaluate.RecallAt1, evaluate.RecallAt8} {
		if math.Abs(whole.Figures[m]-s.Figures[m]) > .01 {
			t.Errorf("mode all: %s %.3f, exact rows %.3f", m, whole.Figures[m], s.Figures[m])
		}
	}
	for _, name := range []string{"gamma/2", "L", "L delta", "A_delta", "promised by the theorem", "promised by the direct argument"} {
		if v, ok := s.Facts[name]; !ok || (v > 0) == strings.HasPrefix(name, "promised") || s.Note == "" {
			t.Errorf("supervised: %s is %g of %v: %q", name, v, s.Facts, s.Note)
		}
	}
	for m, want := range map[evaluate.Metric]float64{evaluate.RecallAt1: .975, evaluate.RecallAt8: .99, evaluate.PrecisionAt8: .955} {
		if s.Figures[m] < want-.005 {
			t.Errorf("supervised: %s %.3f", m, s.Figures[m])
		}
	}
}

// The base sample is taken once, with the codebook, in its encoding, and the gallery in its place.
func TestVolumeOf(t *testing.T) {
	book := &wire.Codebook{Rows: 100, Size: 1, Length: 20, Dimension: 2, Ranking: 3, Centres: make([]float32, 8), Anchors: make([]float32, 6)}
	frame, err := book.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	codebook := float64(len(frame))
	for _, base := range []int{0, 7} {
		v, err := volumeOf(book, base)
		if err != nil {
			t.Fatal(err)
		}
		for encoding, got := range []evaluate.Traffic{v.Float32, v.Int8} {
			want := evaluate.Traffic{Query: float64(book.AnswerBytes(wire.Encoding(encoding))), Once: codebook}
			if base > 0 {
				want.Once += float64(book.BaseBytes(wire.Encoding(encoding), base))
			}
			if got != want {
				t.Errorf("%d rows of %s: %+v, want %+v", base, wire.Encoding(encoding), got, want)
			}
		}
		if v.AllRows != codebook+float64(book.AllRowsBytes()) {
			t.Errorf("all rows: %g", v.AllRows)
		}
	}
	if _, err := volumeOf(&wire.Codebook{}, 0); err == nil {
		t.Error("no codebook")
	}
}
