package fit

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/margin"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Rows that are drawn, and bounds in place of what is exact, are said to be so.
func TestDiagnosisInWords(t *testing.T) {
	r := &margin.Report{
		Gamma: .5, Gaps: []margin.Quantile{{Share: 0, Distance: .5}, {Share: .5, Distance: 2}}, Lipschitz: math.Inf(1),
		Scales: []margin.Scale{{Share: .5, Delta: 1, Carry: 2, Spread: 3}}, ScalesRows: 40, ScalesError: .125, Confidence: .95, Nothing: margin.WideBalls, NothingDirect: margin.WideBallsDirect,
	}
	var b strings.Builder
	(&fitDiagnosis{wanted: true, report: r}).write(&b)
	want := `gamma         0.5, the least distance between classes; rows have 2 (50 %) or less
map           no L is finite: a row has an image of zeros, which has no direction
delta         holds another row  L delta       A_delta at most  gamma/2
1             of 50 % of rows    2             3                0.25
These shares are those of 40 rows, and are off by 0.12 at most, with a confidence of 95 %.
The theorem says nothing here: gamma/2 is not above L delta + A_delta, even at the least delta at
which balls hold another row of their class. Nor does the direct argument: gamma/2 is not above L
delta, even at the least delta at which balls hold another row of their class.
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

// What is said of a result is what its table shows.
func TestVerdict(t *testing.T) {
	held := func(raw, scaled, chosen float64, tried int) *supervised.Held {
		return &supervised.Held{Raw: supervised.Recall{At1: raw}, Scaled: supervised.Recall{At1: scaled}, Chosen: supervised.Recall{At1: chosen}, Error: 0.01, Tried: tried}
	}
	for _, c := range []struct {
		recipe supervised.Recipe
		held   *supervised.Held
		want   string
	}{
		{supervised.Recipe{}, held(0.9, 0.8, 0.9, 30), "rows are left as they are"},
		{supervised.Recipe{}, held(0.9, 0.905, 0.9, 30), "R@1 as good as that of scaled, within twice the standard error of 0.010"},
		{supervised.Recipe{}, held(0.7, 0.9, 0.7, 0), "0.200 of R@1 behind scaled, standard error 0.010"},
		{supervised.Recipe{Standardize: true}, held(0.7, 0.9, 0.9, 0), "nothing is done but to scale columns"},
		{supervised.Recipe{Standardize: true}, held(0.9, 0.7, 0.7, 0), "0.200 of R@1 behind raw, standard error 0.010"},
		{supervised.Classic(), held(0.9, 0.7, 0.8, 0), "0.100 of R@1 behind raw, standard error 0.010"},
		{supervised.Classic(), held(0.9, 0.7, 0.91, 30), "R@1 as good as that of raw, within twice the standard error of 0.010"},
		{supervised.Classic(), held(0.7, 0.8, 0.9, 30), "+0.100 of R@1 over scaled, standard error 0.010"},
	} {
		if got := verdict(&supervised.Model{Recipe: c.recipe, Held: c.held}); got != c.want {
			t.Errorf("%v, %+v: %q, want %q", c.recipe, c.held, got, c.want)
		}
	}
}

// The output says what a choice by one goal loses elsewhere, against whom.
func TestGivenUp(t *testing.T) {
	deep, classic := supervised.Deep(), supervised.Classic()
	held := &supervised.Held{
		Raw: supervised.Recall{At1: .84, At8: .953, P8: .80}, Scaled: supervised.Recall{At1: .85, At8: .93, P8: .81},
		Best: []supervised.Trial{
			{Recipe: classic, Recall: supervised.Recall{At1: .905, At8: .94, P8: .87}},
			{Recipe: deep, Recall: supervised.Recall{At1: .901, At8: .938, P8: .89}},
		},
	}
	for _, c := range []struct {
		recipe supervised.Recipe
		want   string
	}{
		{deep, "0.015 of R@8 against raw"},
		{classic, "0.013 of R@8 against raw, 0.020 of P@8 against 2"},
		{supervised.Recipe{}, ""}, // it was given
	} {
		if got := givenUp(&supervised.Model{Recipe: c.recipe, Held: held}); got != c.want {
			t.Errorf("%v gives up %q, want %q", c.recipe, got, c.want)
		}
	}
	var out bytes.Buffer
	writeHeld(&out, &supervised.Model{Recipe: deep, Held: held})
	for _, want := range []string{"P@8", "1             0.905         0.940         0.870         whiten", "gives up"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	held.Goal, held.Best[1].MAP = supervised.GoalMAP, .6
	held.Best[0].MAP = .5
	if got := givenUp(&supervised.Model{Recipe: held.Best[0].Recipe, Held: held}); !strings.HasSuffix(got, "0.100 of mAP against 2") {
		t.Errorf("gives up %q, want mAP among it", got)
	}
	out.Reset()
	if writeHeld(&out, &supervised.Model{Recipe: deep, Held: held}); !strings.Contains(out.String(), "mAP") {
		t.Errorf("no mAP in\n%s", &out)
	}
}

// What the engine may take and the queries share one limit.
func TestFitSharesItsMemory(t *testing.T) {
	x := blas32.General{Rows: 100, Cols: 10}
	const own = 2 * 4 * 10 * 50 // the queries and their images
	f := fitFlags{work: settings.Work{Workers: 3, MaxMemory: own + 1000}}
	if work, err := f.engineWork(x, 50, 1); err != nil || work != (settings.Work{Workers: 3, MaxMemory: 1000}) {
		t.Errorf("%+v, %v", work, err)
	}
	f.work.MaxMemory = own
	if _, err := f.engineWork(x, 50, 1); !errors.Is(err, kernel.ErrMemory) {
		t.Errorf("no byte for the engine: %v", err)
	}
	f.work.MaxMemory = 0
	if work, err := f.engineWork(x, 50, 1); err != nil || work.MaxMemory != 0 {
		t.Errorf("without a limit: %+v, %v", work, err)
	}
}

// Of many rows some are compared, and all of these count.
func TestCopiesAmongManyRows(t *testing.T) {
	x := blas32.General{Rows: 2 * mostCompared, Cols: 1, Stride: 1, Data: make([]float32, 2*mostCompared)}
	for i := range x.Data {
		x.Data[i] = float32(1 + i/4)
	}
	if copies, compared := copiedRows(x); copies != mostCompared/2 || compared != mostCompared {
		t.Errorf("%d copies among %d rows", copies, compared)
	}
}
