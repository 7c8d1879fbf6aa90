package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/synth"
)

func digitsData() *Data {
	x, y := digits.Load()
	return &Data{Name: "digits", Features: x, Labels: y, Division: DivisionOf("digits", x.Rows)}
}

// toyData is 200 rows of 5 classes.
func toyData(t *testing.T) *Data {
	t.Helper()
	x, y, err := synth.Classes(200, 8, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x.Data {
		x.Data[i] = v * v // not negative
	}
	return &Data{Name: "toy", Features: x, Labels: y, Division: Division{Public: 60, Gallery: 120}}
}

// exactMode answers with the exact neighbours and counts how often it runs.
func exactMode(runs *atomic.Int64) Mode {
	return Mode{
		Name: "exact", Title: "exact", Uses: UsesEpsilon, Defaults: Params{Epsilon: 1, Delta: 1e-5, Sigma: 6},
		Run: func(ctx context.Context, t *Task) (*Answer, error) {
			runs.Add(1)
			r, err := t.Search(ctx, t.Queries, t.Gallery)
			return &Answer{Ranking: r, Exact: r, NoQuery: r}, err
		},
	}
}

func TestZeroShotDivision(t *testing.T) {
	labels := make([]int32, 100)
	for i := range labels {
		labels[i] = int32(i % 10)
	}
	s, err := Division{Public: 30, KnownClasses: 5, Queries: 10}.Split(labels, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Public) != 30 || len(s.Queries) != 10 || len(s.Gallery) != 40 {
		t.Fatalf("%d public, %d gallery, %d queries", len(s.Public), len(s.Gallery), len(s.Queries))
	}
	seen := make(map[int]bool)
	for i, row := range slices.Concat(s.Public, s.Gallery, s.Queries) {
		if seen[row] || (labels[row] < 5) != (i < 30) {
			t.Errorf("row %d of class %d at place %d", row, labels[row], i)
		}
		seen[row] = true
	}
	for _, d := range []Division{{Public: 51, KnownClasses: 5, Queries: 1}, {Public: 1, KnownClasses: 5, Queries: 50}, {KnownClasses: 5, Queries: 5}} {
		if _, err := d.Split(labels, 1); !errors.Is(err, ErrShape) {
			t.Errorf("%+v: %v", d, err)
		}
	}
}

// The figures of prepared rows under seed 1, as published.
func TestPreparedDigits(t *testing.T) {
	var runs atomic.Int64
	mode := exactMode(&runs)
	d := digitsData()
	cells, err := Grid{Data: []*Data{d}, Modes: []Mode{mode}, Seeds: []uint64{1}}.Cells()
	if err != nil {
		t.Fatal(err)
	}
	records, err := (&Sweep{Data: []*Data{d}, Modes: []Mode{mode}}).Run(t.Context(), cells)
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[Metric]float64{RecallAt1: .980, RecallAt8: 1, PrecisionAt8: .942, OverlapAt8: 1, NoQueryOverlap8: 1} {
		if got := records[0].Figures[m]; got < want-.004 || got > want+.004 {
			t.Errorf("%s %.4f, want %.3f", m, got, want)
		}
	}
	if r := records[0]; r.Asked != 397 || r.Classes != 10 || r.Gallery != 1000 || r.Sigma != 0 {
		t.Errorf("%+v", r)
	}
}

// A mode that does not say that it sees labels gets none.
func TestQueryLabelsAreKeptBack(t *testing.T) {
	d := toyData(t)
	for _, sees := range []bool{false, true} {
		mode := Mode{Name: "m", SeesQueryLabels: sees, Run: func(ctx context.Context, task *Task) (*Answer, error) {
			if (task.QueryLabels != nil) != sees {
				t.Errorf("sees %v, got %d labels", sees, len(task.QueryLabels))
			}
			if n, _ := task.Queries.Dims(); n != 7 {
				t.Errorf("%d queries", n)
			}
			r, err := task.Search(ctx, task.Queries, task.Gallery)
			return &Answer{Ranking: r}, err
		}}
		cells, err := Grid{Data: []*Data{d}, Modes: []Mode{mode}, Seeds: []uint64{1}, Queries: 7}.Cells()
		if err != nil {
			t.Fatal(err)
		}
		records, err := (&Sweep{Data: []*Data{d}, Modes: []Mode{mode}}).Run(t.Context(), cells)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := records[0].Figures[OverlapAt8]; ok || records[0].Asked != 7 {
			t.Errorf("%+v", records[0])
		}
	}
}

// A mode that is not available somewhere leaves the other cells alone, and its
// seeds are not mixed with those that have figures.
func TestSweepNotesWhatIsUnavailable(t *testing.T) {
	var runs atomic.Int64
	mode, d := exactMode(&runs), toyData(t)
	exact := mode.Run
	mode.Run = func(ctx context.Context, task *Task) (*Answer, error) {
		if task.Epsilon == 2 && task.Seed == 1 {
			return nil, fmt.Errorf("wrapped: %w", &UnavailableError{Reason: "too few rows"})
		}
		return exact(ctx, task)
	}
	grid := Grid{Data: []*Data{d}, Modes: []Mode{mode}, Seeds: []uint64{1, 2}, Epsilons: []float64{1, 2}}
	cells, err := grid.Cells()
	if err != nil {
		t.Fatal(err)
	}
	records, err := (&Sweep{Data: grid.Data, Modes: grid.Modes}).Run(t.Context(), cells)
	if err != nil || runs.Load() != 3 {
		t.Fatalf("%d cells measured: %v", runs.Load(), err)
	}
	if r := records[1]; r.Unavailable != "too few rows" || len(r.Figures) > 0 || r.Gallery != 120 {
		t.Errorf("%+v", r)
	}
	var got []string
	for _, s := range Summarize(records) {
		got = append(got, fmt.Sprintf("epsilon %g: %d seeds, %d figures%s", s.Epsilon, s.Seeds, min(len(s.Figures), 1), s.Unavailable))
	}
	want := []string{"epsilon 1: 2 seeds, 1 figures", "epsilon 2: 1 seeds, 0 figurestoo few rows", "epsilon 2: 1 seeds, 1 figures"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestSweepResumes(t *testing.T) {
	var runs atomic.Int64
	mode, d := exactMode(&runs), toyData(t)
	grid := Grid{Data: []*Data{d}, Modes: []Mode{mode}, Seeds: []uint64{1, 2}, Epsilons: []float64{1, 2}}
	path := filepath.Join(t.TempDir(), "records.jsonl")
	sweep := func(cells []Cell) ([]Record, error) {
		j, err := OpenJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		return (&Sweep{Data: grid.Data, Modes: grid.Modes, Journal: j}).Run(t.Context(), cells)
	}
	cells, err := grid.Cells()
	if err != nil || len(cells) != 4 {
		t.Fatal(len(cells), err)
	}
	first, err := sweep(cells[:3])
	if err != nil || runs.Load() != 3 {
		t.Fatal(runs.Load(), err)
	}
	// A line that was cut off is measured again, the others are not.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data[:len(data)-5], 0o666); err != nil {
		t.Fatal(err)
	}
	second, err := sweep(cells)
	if err != nil || runs.Load() != 5 {
		t.Fatal(runs.Load(), err)
	}
	for i := range first {
		first[i].Seconds, second[i].Seconds = 0, 0
		if !reflect.DeepEqual(first[i], second[i]) {
			t.Errorf("record %d:\n%+v\n%+v", i, first[i], second[i])
		}
	}
	if _, err := sweep(cells); err != nil || runs.Load() != 5 {
		t.Errorf("all there: %d runs, %v", runs.Load(), err)
	}
	// Other rows are another data set, whatever the name.
	d.Labels = slices.Clone(d.Labels)
	d.Labels[0] = (d.Labels[0] + 1) % 5
	if cells, err = grid.Cells(); err != nil {
		t.Fatal(err)
	}
	if _, err := sweep(cells); err != nil || runs.Load() != 9 {
		t.Errorf("another label: %d runs, %v", runs.Load(), err)
	}
}

func TestJournalRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	const before = `{"key":"d816bd94faf20890","data":"d","mode":"cells","seed":1}` // it has no figures of int8
	for _, text := range []string{"hello\n", "{}\n", `{"key":"00","data":"x"}` + "\n", before + "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenJournal(path); !errors.Is(err, ErrJournal) {
			t.Errorf("%q: %v", text, err)
		}
		if after, _ := os.ReadFile(path); string(after) != text {
			t.Errorf("%q became %q", text, after)
		}
	}
}

func TestJournalHasOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	cell := Cell{Data: "toy", Mode: "exact"}
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func(string) (*Journal, error){"OpenJournal": OpenJournal, "CreateJournal": CreateJournal} {
		if _, err := open(path); !errors.Is(err, ErrJournalInUse) {
			t.Errorf("%s while in use: %v", name, err)
		}
	}
	if err := errors.Join(j.add(Record{Key: cell.key(), Cell: cell}), j.Close()); err != nil {
		t.Fatal(err)
	}
	if j, err = OpenJournal(path); err != nil {
		t.Fatal(err)
	}
	if _, ok := j.Find(cell); !ok {
		t.Error("the record is gone")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err = CreateJournal(path); err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, ok := j.Find(cell); ok {
		t.Error("CreateJournal kept a record")
	}
}

// Behind a line that may be half written there must be no other.
func TestJournalStopsAtAFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.jsonl")
	j, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	good := j.file
	if j.file, err = os.Open(path); err != nil { // cannot be written to
		t.Fatal(err)
	}
	cell := Cell{Data: "toy", Mode: "exact"}
	first := j.add(Record{Key: cell.key(), Cell: cell})
	if err := j.file.Close(); err != nil {
		t.Fatal(err)
	}
	j.file = good
	if again := j.add(Record{Key: cell.key(), Cell: cell}); first == nil || again != first {
		t.Errorf("%v, then %v", first, again)
	}
	if _, ok := j.Find(cell); ok {
		t.Error("a record that was not written is found")
	}
}

// What was finished before a failure or a cancellation is in the journal.
func TestSweepStops(t *testing.T) {
	d := toyData(t)
	broken := errors.New("broken")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for name, stop := range map[string]func() error{
		"error":  func() error { return broken },
		"panic":  func() error { panic("no") },
		"cancel": func() error { cancel(); return ctx.Err() },
	} {
		var runs atomic.Int64
		mode := exactMode(&runs)
		answer := mode.Run
		mode.Run = func(ctx context.Context, task *Task) (*Answer, error) {
			if task.Epsilon == 3 {
				return nil, stop()
			}
			return answer(ctx, task)
		}
		j, err := OpenJournal(filepath.Join(t.TempDir(), "records.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		sweep := &Sweep{Data: []*Data{d}, Modes: []Mode{mode}, Journal: j, Workers: 1}
		cells, err := Grid{Data: sweep.Data, Modes: sweep.Modes, Seeds: []uint64{1}, Epsilons: []float64{1, 2, 3, 4}}.Cells()
		if err != nil {
			t.Fatal(err)
		}
		_, err = sweep.Run(ctx, cells)
		switch {
		case err == nil:
			t.Errorf("%s: no error", name)
		case name == "error" && !(errors.Is(err, broken) && strings.Contains(err.Error(), "exact on toy, seed 1, epsilon 3")):
			t.Errorf("%s: %v", name, err)
		case name == "cancel" && !errors.Is(err, context.Canceled):
			t.Errorf("%s: %v", name, err)
		}
		if name == "cancel" {
			ctx, cancel = context.WithCancel(t.Context())
		}
		for i, want := range []bool{true, true, false} {
			if _, ok := j.Find(cells[i]); ok != want && ctx.Err() == nil {
				t.Errorf("%s: cell %d in the journal: %v", name, i, ok)
			}
		}
		j.Close()
	}
	cancel()
}

func TestSweepRefuses(t *testing.T) {
	d := toyData(t)
	var runs atomic.Int64
	sweep := &Sweep{Data: []*Data{d}, Modes: []Mode{exactMode(&runs)}}
	for _, c := range []Cell{{Data: "toy", Mode: "other"}, {Data: "other", Mode: "exact"}} {
		if _, err := sweep.Run(t.Context(), []Cell{c}); err == nil {
			t.Errorf("%+v was measured", c)
		}
	}
	d.Labels = d.Labels[1:]
	if _, err := (Grid{Data: []*Data{d}}).Cells(); !errors.Is(err, ErrShape) {
		t.Errorf("a label too few: %v", err)
	}
}

func TestAssembleRefuses(t *testing.T) {
	rows := func(n, d int) Part { return Part{mat.NewDense(n, d, nil), make([]int32, n)} }
	for name, c := range map[string]struct {
		public, gallery, queries Part
		want                     error
	}{
		"no rows":    {rows(2, 3), Part{}, rows(2, 3), ErrShape},
		"dimensions": {rows(2, 3), rows(2, 3), rows(2, 4), ErrShape},
		"labels":     {rows(2, 3), Part{mat.NewDense(2, 3, nil), []int32{1}}, rows(2, 3), ErrShape},
		"no class":   {rows(2, 3), rows(2, 3), Part{mat.NewDense(1, 3, nil), []int32{-1}}, ErrLabel},
	} {
		if _, err := Assemble("x", 1, c.public, c.gallery, c.queries); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A cell that is no cell is in no journal.
func TestJournalWithoutNumbers(t *testing.T) {
	j, err := OpenJournal(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if _, ok := j.Find(Cell{Params: Params{Sigma: math.NaN()}}); ok {
		t.Error("found")
	}
}

func TestSharedMakesOnce(t *testing.T) {
	p, err := NewProblem(toyData(t), 1)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for range 2 {
		if _, err := Shared(t.Context(), p, "fails", func() (int, error) { calls++; return 0, ErrShape }); !errors.Is(err, ErrShape) {
			t.Error(err)
		}
		if v, err := Shared(t.Context(), p, "works", func() (int, error) { calls++; return 5, nil }); v != 5 || err != nil {
			t.Error(v, err)
		}
	}
	if calls != 3 {
		t.Errorf("%d calls, want 2 that fail and 1 that works", calls)
	}
}

func TestGridCrossesWhatTheModeUses(t *testing.T) {
	all := UsesEpsilon | UsesColumns | UsesAlpha | UsesSigma | UsesSteps
	g := Grid{
		Data: []*Data{toyData(t)}, Seeds: []uint64{1, 2}, Queries: 5,
		Epsilons: []float64{1, 2}, Columns: []int{2, 4, 8}, Alphas: []float64{0.5}, Sigmas: []float64{1, 6}, Steps: []int{1, 5},
		Modes: []Mode{{Name: "all", Uses: all}, {Name: "none", Defaults: Params{Sigma: 3}, Queries: 9}},
	}
	cells, err := g.Cells()
	if err != nil || len(cells) != 2*(2*3*1*2*2+1) {
		t.Errorf("%d cells, %v", len(cells), err)
	}
	keys := make(map[string]bool)
	for _, c := range cells {
		keys[c.key()] = true
		if c.Queries != 5 || c.Mode == "none" && c.Params != (Params{}) {
			t.Errorf("%+v", c)
		}
	}
	if len(keys) != len(cells) || len(Unique(append(cells, cells...))) != len(cells) {
		t.Errorf("%d keys of %d cells", len(keys), len(cells))
	}
}

func TestModeWith(t *testing.T) {
	m := Mode{Uses: UsesAlpha | UsesSigma | UsesEpsilon, Defaults: Params{Epsilon: 1, Delta: 1e-5, Alpha: 0.6, Sigma: 6}}
	got := m.With(Params{Sigma: 5, Dim: 3, Steps: 9})
	if want := (Params{Epsilon: 1, Delta: 1e-5, Alpha: 0.6, Sigma: 5}); got.Defaults != want || m.Defaults.Sigma != 6 {
		t.Errorf("%+v, want %+v", got.Defaults, want)
	}
}

func TestSummaries(t *testing.T) {
	record := func(seed uint64, epsilon, recall float64) Record {
		return Record{
			Cell: Cell{Data: "d", Mode: "m", Seed: seed, Params: Params{Epsilon: epsilon}}, Asked: 100, Gallery: 50, Download: 10,
			Figures: map[Metric]float64{RecallAt8: recall, OverlapAt8: recall / 2}, Facts: map[string]float64{"x": recall}, Seconds: 1,
		}
	}
	s := Summarize([]Record{record(1, 1, .4), record(1, 2, .9), record(2, 1, .6)})
	if len(s) != 2 || s[0].Seeds != 2 || s[0].Figures[RecallAt8] != meanInterval([]float64{.4, .6}) || s[0].Facts["x"] != .5 || s[0].Download != .2 || s[0].Seconds != 2 {
		t.Errorf("%+v", s)
	}
	// A fact that a seed lacks has no mean, and a note is that of the first seed.
	one, two := record(3, 1, .4), record(4, 1, .6)
	one.Facts["y"], one.Note, two.Note = 2, "All is well.", "Not all is well."
	if s := Summarize([]Record{one, two}); len(s[0].Facts) != 1 || s[0].Note != "Seed 3: All is well." {
		t.Errorf("%v, %q", s[0].Facts, s[0].Note)
	}
	if s := Summarize([]Record{one}); s[0].Facts["y"] != 2 || s[0].Note != "All is well." {
		t.Errorf("%v, %q", s[0].Facts, s[0].Note)
	}
	if s[1].Figures[RecallAt8] != shareInterval(.9, 100) || s[1].Figures[OverlapAt8].Low != .45 {
		t.Errorf("one seed: %+v", s[1].Figures)
	}
}

// Vectors of the design page: C = 98, K = 8.
func TestCeiling(t *testing.T) {
	for epsilon, want := range map[float64]float64{.01: .082, 1: .195, 2: .396, 4: .829, 5: .930, 8: .996} {
		if got := Ceiling(98, epsilon, 0); got < want-.0006 || got > want+.0006 {
			t.Errorf("epsilon %g: %.4f, want %.3f", epsilon, got, want)
		}
	}
	if got := Ceiling(5, 1, 1e-5); got != 1 {
		t.Errorf("5 classes: %g", got)
	}
	if got := OverlapCeiling(0.125, 0); got < .125-1e-12 || got > .125+1e-12 {
		t.Errorf("a sample that knows nothing: %g", got)
	}
}

// Where there are fewer cells than workers, cells share the others; where there are not,
// a cell works alone. The figures are the same.
func TestSweepSharesWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(7))
	d := toyData(t)
	var first []Record
	for _, c := range []struct{ workers, cells, each int }{{1, 3, 1}, {3, 3, 1}, {7, 3, 2}, {0, 1, 7}} {
		mode := exactMode(new(atomic.Int64))
		mode.Run = func(ctx context.Context, task *Task) (*Answer, error) {
			if task.Workers.Count() != c.each {
				t.Errorf("%+v: %d workers in a cell", c, task.Workers.Count())
			}
			r, err := task.Search(ctx, task.Queries, task.Gallery)
			return &Answer{Ranking: r, Exact: r}, err
		}
		sweep := &Sweep{Data: []*Data{d}, Modes: []Mode{mode}, Workers: c.workers}
		cells, err := Grid{Data: sweep.Data, Modes: sweep.Modes, Seeds: []uint64{1}, Epsilons: []float64{1, 2, 3}[:c.cells]}.Cells()
		if err != nil {
			t.Fatal(err)
		}
		records, err := sweep.Run(t.Context(), cells)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = records
		}
		for i, r := range records {
			if !reflect.DeepEqual(r.Figures, first[i].Figures) {
				t.Errorf("%+v: cell %d has %v, want %v", c, i, r.Figures, first[i].Figures)
			}
		}
	}
}
