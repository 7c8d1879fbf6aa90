package evaluate

import (
	"cmp"
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/nearest"
	"github.com/seed-64e14a55/privatemail/par"
)

// A Mode is a way to answer queries, with everything a reader of its figures has
// to know.
type Mode struct {
	// Name on the command line and in files.
	Name string
	// Title in tables and pictures.
	Title string
	// Protects says what its epsilon covers, in a sentence.
	Protects string
	// Assumes says, in a sentence, what a mode hides by encryption and which computational
	// assumption that rests on; empty for all other modes. Such a mode has no epsilon, and no
	// table puts one next to the other.
	Assumes string
	// Warning stands next to every figure of a mode whose guarantee does not hold; empty
	// for all other modes.
	Warning string
	// Bounded is true when the release covers the whole record of the query, any
	// record against any other, and the answers are picked from it without another
	// look at the record: then Ceiling bounds its recall.
	Bounded bool
	// SeesQueryLabels is true for a mode that works with the label of the query.
	// No other mode can get at it.
	SeesQueryLabels bool
	// Uses lists the parameters that change its figures; Defaults holds their
	// values where nothing else is asked for.
	Uses     Axes
	Defaults Params
	// Queries is how many queries are asked unless the caller says otherwise, 0 for
	// all. Modes that iterate once for each query ask fewer.
	Queries int
	// Run answers the queries of a task. The error is an UnavailableError where
	// the mode has no answer to such a task.
	Run func(ctx context.Context, t *Task) (*Answer, error)
}

// Axes is a set of parameters.
type Axes uint

// The parameters a mode may have.
const (
	UsesEpsilon Axes = 1 << iota // Epsilon, and Delta where the guarantee is not pure
	UsesColumns
	UsesAlpha
	UsesSigma
	UsesSteps
)

// Has reports whether all of a are in the set.
func (s Axes) Has(a Axes) bool { return s&a == a }

// Params are the parameters of one measurement. Those that the mode does not use
// are zero.
type Params struct {
	Epsilon float64 `json:"epsilon,omitempty"`
	Delta   float64 `json:"delta,omitempty"`
	// Dim is the dimension k of the embedding.
	Dim int `json:"k,omitempty"`
	// Alpha is the coefficient of the label term, Sigma the bandwidth.
	Alpha float64 `json:"alpha,omitempty"`
	Sigma float64 `json:"sigma,omitempty"`
	// Steps is the number T of iterations.
	Steps int `json:"steps,omitempty"`
}

// only returns the parameters of a set.
func (p Params) only(a Axes) Params {
	var out Params
	if a.Has(UsesEpsilon) {
		out.Epsilon, out.Delta = p.Epsilon, p.Delta
	}
	if a.Has(UsesColumns) {
		out.Dim = p.Dim
	}
	if a.Has(UsesAlpha) {
		out.Alpha = p.Alpha
	}
	if a.Has(UsesSigma) {
		out.Sigma = p.Sigma
	}
	if a.Has(UsesSteps) {
		out.Steps = p.Steps
	}
	return out
}

// At returns the parameters of the mode at its defaults and an epsilon, which is
// 0 for a mode that has none.
func (m *Mode) At(epsilon float64) Params {
	p := m.Defaults
	p.Epsilon = epsilon
	return p.only(m.Uses)
}

// With returns the mode with other defaults: the parameters of p that are not 0,
// as far as the mode uses them.
func (m Mode) With(p Params) Mode {
	p = p.only(m.Uses)
	m.Defaults = Params{
		Epsilon: cmp.Or(p.Epsilon, m.Defaults.Epsilon), Delta: cmp.Or(p.Delta, m.Defaults.Delta),
		Dim:   cmp.Or(p.Dim, m.Defaults.Dim),
		Alpha: cmp.Or(p.Alpha, m.Defaults.Alpha), Sigma: cmp.Or(p.Sigma, m.Defaults.Sigma),
		Steps: cmp.Or(p.Steps, m.Defaults.Steps),
	}
	return m
}

// A Task is a problem as a mode gets it.
type Task struct {
	*Problem
	Params
	// Queries are the rows to answer, which may be fewer than the problem has.
	Queries *mat.Dense
	// QueryLabels is nil unless the mode says that it sees them.
	QueryLabels []int32
	// Workers share the work of the mode; nil when its caller works alone.
	Workers *par.Workers
}

// Search ranks the rows of a gallery for each of some queries, as deep as
// DeepLength where there are as many rows. The errors are those of nearest.Rows.
func (t *Task) Search(ctx context.Context, queries, gallery *mat.Dense) (*Ranking, error) {
	n, _ := gallery.Dims()
	k := min(DeepLength, n)
	index, _, err := nearest.Rows(ctx, queries.RawMatrix(), gallery.RawMatrix(), k, nearest.Settings{Workers: t.Workers})
	return &Ranking{K: k, Index: index}, err
}

// CheckDimensions returns an UnavailableError where a mode would keep more dimensions
// than the prepared rows have: it would keep them all and mean nothing.
func (t *Task) CheckDimensions(keep int) error {
	if _, d := t.Gallery.Dims(); keep > d {
		return &UnavailableError{Reason: fmt.Sprintf("more dimensions to keep than the %d that prepared rows have", d)}
	}
	return nil
}

// An Answer is what came back for the queries of a task.
type Answer struct {
	// Ranking holds gallery rows, best first, at least ListLength places a
	// query.
	Ranking *Ranking
	// Exact is the exact search of the whole gallery in the same ranking space
	// and with the true query, for overlap@8; nil where there is no such space.
	Exact *Ranking
	// NoQuery ranks a random sample of as many rows as were downloaded, the same for
	// every query: what the client gets without asking. A mode sets it whenever more
	// rows travel than are kept; nil otherwise.
	NoQuery *Ranking
	// Compact is Ranking for the same requests, answered with rows of int8; nil where the
	// mode has no such answers.
	Compact *Ranking
	// Download is the mean number of rows that travel for a query, Base how many
	// the client fetches once; 0 where only the answers travel.
	Download, Base float64
	// Volume is what travels in bytes.
	Volume Volume
	// Scored holds the figures of a mode that sees the labels of the queries anyway and
	// counts for itself; nil when the figures follow from Ranking.
	Scored map[Metric]float64
	// Facts are further numbers by name, such as the standard deviation of the
	// noise.
	Facts map[string]float64
	// Note says in words what the facts mean; empty where they need no words.
	Note string
}

// ListLength is the K of R@K, P@K and overlap@K in sweeps, and DeepLength is the K of
// mAP@K.
const (
	ListLength = 8
	DeepLength = 100
)

// A Metric names a figure.
type Metric string

// The figures of a sweep. Those that begin with "no query" are figures of a random
// sample of the same size, ranked by the client alone, and those that begin with "int8" of
// the same requests, answered with rows of int8.
const (
	RecallAt1       Metric = "R@1"
	RecallAt8       Metric = "R@8"
	PrecisionAt8    Metric = "P@8"
	MAP             Metric = "mAP@100"
	OverlapAt8      Metric = "overlap@8"
	NoQueryRecall1  Metric = "no query R@1"
	NoQueryRecall8  Metric = "no query R@8"
	NoQueryOverlap8 Metric = "no query overlap@8"
	CompactRecall1  Metric = "int8 R@1"
	CompactRecall8  Metric = "int8 R@8"
	CompactOverlap8 Metric = "int8 overlap@8"
	// WrongClassAt8 is for modes that give queries a wrong label: the share that
	// gets a row of that label's class.
	WrongClassAt8 Metric = "wrong class@8"
	// RandomRecall1 and RandomRecall8 are what 8 rows drawn at random from the gallery
	// are expected to find. Every measurement with figures has them.
	RandomRecall1 Metric = "random rows R@1"
	RandomRecall8 Metric = "random rows R@8"
)

// Metrics lists all figures in the order of tables.
func Metrics() []Metric {
	return []Metric{RecallAt1, RecallAt8, PrecisionAt8, MAP, OverlapAt8, NoQueryRecall1, NoQueryRecall8, NoQueryOverlap8, CompactRecall1, CompactRecall8, CompactOverlap8, WrongClassAt8, RandomRecall1, RandomRecall8}
}

// figures scores the answer to the queries with the given labels. Exact answers
// need not be as deep as DeepLength.
func (a *Answer) figures(queryLabels, galleryLabels []int32) (map[Metric]float64, error) {
	if a != nil && a.Scored != nil {
		return a.Scored, nil
	}
	if a == nil || a.Ranking == nil || a.Ranking.K < ListLength {
		return nil, fmt.Errorf("%w: no ranking of %d places", ErrShape, ListLength)
	}
	out := make(map[Metric]float64)
	score := func(r *Ranking, one, eight, overlap Metric) error {
		s, err := r.Score(queryLabels, galleryLabels, 1, ListLength)
		if err != nil {
			return err
		}
		out[one], out[eight] = s.At[0].Recall, s.At[1].Recall
		if r == a.Ranking {
			out[PrecisionAt8] = s.At[1].Precision
		}
		if a.Exact != nil {
			out[overlap], err = Overlap(a.Exact, r, ListLength)
		}
		return err
	}
	if err := score(a.Ranking, RecallAt1, RecallAt8, OverlapAt8); err != nil {
		return nil, err
	}
	if a.NoQuery != nil {
		if err := score(a.NoQuery, NoQueryRecall1, NoQueryRecall8, NoQueryOverlap8); err != nil {
			return nil, err
		}
	}
	if a.Compact != nil {
		if err := score(a.Compact, CompactRecall1, CompactRecall8, CompactOverlap8); err != nil {
			return nil, err
		}
	}
	if a.Ranking.K >= DeepLength {
		var err error
		if out[MAP], err = a.Ranking.first(DeepLength).AveragePrecision(queryLabels, galleryLabels); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// first returns the ranking cut to k places.
func (r *Ranking) first(k int) *Ranking {
	if r.K == k {
		return r
	}
	out := &Ranking{K: k, Index: make([]int, 0, k*r.Queries())}
	for q := range r.Queries() {
		out.Index = append(out.Index, r.Row(q)[:k]...)
	}
	return out
}
