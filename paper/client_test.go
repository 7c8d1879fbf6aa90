package paper

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

const testClasses = 5

// publicRows returns rows of the classes 0 to 3 of five.
func publicRows(t testing.TB) *Public {
	t.Helper()
	const n = 24
	x := blas64.General{Rows: n, Cols: 3, Stride: 3, Data: make([]float64, 3*n)}
	y := make([]int32, n)
	for i := range n {
		y[i] = int32(i % (testClasses - 1))
		for j := range 3 {
			x.Data[3*i+j] = math.Sin(float64(7*i + 3*j + 1))
		}
	}
	p, err := NewPublic(x, y, testClasses)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newEngine(t testing.TB) *privatemail.Engine {
	t.Helper()
	e, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

var (
	unit   = mechanism.Unit{Kind: release.UnitRecord, Name: "x", New: true}
	record = Record{Features: []float64{3, 0, 4}, Label: 2}
	sound  = ClientSettings{Epsilon: 1, Delta: 1e-5, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger}
)

func newClient(t testing.TB, s ClientSettings) *Client {
	t.Helper()
	p, err := NewClient(newEngine(t), publicRows(t), DefaultMethod(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The dummies are one of every class with rows, whatever the record is, and
// every order is possible.
func TestHide(t *testing.T) {
	public := publicRows(t)
	places, firsts, chosen := map[int]int{}, map[int32]int{}, map[int]int{}
	const draws = 2000
	for range draws {
		c, err := hide(public, -1)
		if err != nil {
			t.Fatal(err)
		}
		var classes []int32
		for _, d := range c.dummies {
			classes = append(classes, public.Labels()[d])
			chosen[d]++
		}
		firsts[classes[0]]++
		slices.Sort(classes)
		if !slices.Equal(classes, []int32{0, 1, 2, 3}) {
			t.Fatalf("classes %v", classes)
		}
		places[c.place]++
	}
	// Six standard deviations of a uniform choice.
	uniform := func(what string, n, choices int) {
		expected := draws / float64(choices)
		if math.Abs(float64(n)-expected) > 6*math.Sqrt(expected) {
			t.Errorf("%s: %d of %d, want about %.0f", what, n, draws, expected)
		}
	}
	for place := range 5 {
		uniform("a place", places[place], 5)
	}
	for class := range int32(4) {
		uniform("a class first", firsts[class], 4)
	}
	for row := range public.Rows() {
		uniform("a row", chosen[row], 6)
	}
}

func TestHideSkips(t *testing.T) {
	public := publicRows(t)
	c, err := hide(public, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.dummies) != 3 || slices.ContainsFunc(c.dummies, func(d int) bool { return public.Labels()[d] == 1 }) {
		t.Errorf("dummies %v", c.dummies)
	}
}

// A question holds the hidden rows and the public set, and the place of the
// record is nowhere in it.
func TestAsk(t *testing.T) {
	p := newClient(t, sound)
	m, read, err := p.Ask(t.Context(), record, unit)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	r := m.Release
	if r.Rows != 4+1+24 || m.Public != p.public.Hash() || m.Labels != nil || r.Labels.Mode != release.ModeDropped {
		t.Errorf("%d rows, labels %v in mode %s", r.Rows, m.Labels, r.Labels.Mode)
	}
	if s := r.Sensitivity; !slices.Equal(s.PrivateRows, []int32{0, 1, 2, 3, 4}) || s.Relation != "replace-one" {
		t.Errorf("private rows %v under %s", s.PrivateRows, s.Relation)
	}
	answer := numbered(m, 5)
	found, err := read(answer)
	if err != nil || len(found) != 2 {
		t.Fatalf("read %v, %v", found, err)
	}
	if first := found[0].ID; first%2 != 0 || first < 0 || first > 8 || !slices.Equal(found, []Match{{first, 0}, {first + 1, 1}}) {
		t.Errorf("read %v, not the matches of one row", found)
	}
	if again, err := read(answer); err != nil || !slices.Equal(again, found) {
		t.Errorf("read %v, then %v, %v", found, again, err)
	}
	for place := range 5 {
		found, err := readMatches(answer, r.ID, 5, place)
		if want := []Match{{int64(2 * place), 0}, {int64(2*place + 1), 1}}; err != nil || !slices.Equal(found, want) {
			t.Errorf("place %d: read %v, want %v, %v", place, found, want, err)
		}
	}
	other := *answer
	other.Question[0]++
	fewer := Matches{Question: r.ID, Hidden: 4, Each: 2, IDs: answer.IDs[:8], Distances: answer.Distances[:8]}
	for name, wrong := range map[string]*Matches{"none": nil, "other question": &other, "other rows": &fewer} {
		if _, err := read(wrong); !errors.Is(err, ErrMatches) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := read(new(Matches)); !errors.Is(err, ErrMatches) {
		t.Errorf("empty answer: %v", err)
	}
}

// numbered returns an answer of two matches for each hidden row, the ids counted through.
func numbered(q *Question, hidden int) *Matches {
	answer := &Matches{Question: q.Release.ID, Hidden: hidden, Each: 2, IDs: make([]int64, 2*hidden), Distances: make([]float64, 2*hidden)}
	for i := range answer.IDs {
		answer.IDs[i], answer.Distances[i] = int64(i), float64(i%2)
	}
	return answer
}

// The rows are the hidden ones in their order, the record in its place, and
// then the public ones.
func TestRows(t *testing.T) {
	public := publicRows(t)
	c := &crowd{dummies: []int{5, 0, 3}, place: 1}
	x, y := c.rows(public, []float64{1, 0, 0}, 4)
	if x.Rows != 28 || len(x.Data) != 28*3 || len(y) != 28 {
		t.Fatalf("%d rows, %d labels", x.Rows, len(y))
	}
	own := public.Features()
	want := slices.Concat(own.Data[15:18], []float64{1, 0, 0}, own.Data[0:3], own.Data[9:12], own.Data)
	if !slices.Equal(x.Data, want) || !slices.Equal(y, append([]int32{1, 4, 0, 3}, public.Labels()...)) {
		t.Errorf("rows %v, labels %v", x.Data[:12], y[:4])
	}
}

func TestPublicLabelsGoAlong(t *testing.T) {
	p := newClient(t, ClientSettings{Epsilon: 1, Delta: 1e-5, Relation: sensitivity.FeaturesReplace, LabelMode: release.ModePublic, SkipOwnClass: true, Ledger: mechanism.NoLedger})
	q, read, err := p.Ask(t.Context(), record, unit)
	if err != nil {
		t.Fatal(err)
	}
	hidden := slices.Clone(q.Labels[:4])
	found, err := read(numbered(q, 4))
	if err != nil {
		t.Fatal(err)
	}
	// The place that the answer is read from is that of the record.
	if place := found[0].ID / 2; hidden[place] != record.Label {
		t.Errorf("the record's label is %d", hidden[place])
	}
	slices.Sort(hidden)
	if !slices.Equal(hidden, []int32{0, 1, 2, 3}) {
		t.Errorf("hidden labels %v", hidden)
	}
}

func TestNewClientRefuses(t *testing.T) {
	change := func(f func(*ClientSettings, *Method)) error {
		s, m := sound, DefaultMethod()
		f(&s, &m)
		_, err := NewClient(newEngine(t), publicRows(t), m, s)
		return err
	}
	for name, c := range map[string]struct {
		f    func(*ClientSettings, *Method)
		want error
	}{
		"public labels":     {func(s *ClientSettings, _ *Method) { s.LabelMode = release.ModePublic }, sensitivity.ErrRelation},
		"own class skipped": {func(s *ClientSettings, _ *Method) { s.SkipOwnClass = true }, sensitivity.ErrRelation},
		"no bandwidth":      {func(_ *ClientSettings, m *Method) { m.Bandwidth = kernel.Bandwidth{} }, ErrMethod},
		"no table":          {func(_ *ClientSettings, m *Method) { m.Table = "x" }, ErrMethod},
		"no steps":          {func(_ *ClientSettings, m *Method) { m.Steps = 0 }, ErrMethod},
		"no columns":        {func(_ *ClientSettings, m *Method) { m.Dim = 0 }, ErrMethod},
		"sigma_q no number": {func(_ *ClientSettings, m *Method) { m.SigmaQ = math.NaN() }, ErrMethod},
		"alpha not finite":  {func(_ *ClientSettings, m *Method) { m.Alpha = math.Inf(1) }, ErrMethod},
	} {
		if err := change(c.f); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAskRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		settings func(*ClientSettings)
		record   Record
		want     error
	}{
		"short record":   {nil, Record{Features: []float64{1}}, ErrRecord},
		"label":          {nil, Record{Features: record.Features, Label: 5}, ErrRecord},
		"negative label": {nil, Record{Features: record.Features, Label: -1}, ErrRecord},
		"zero record":    {nil, Record{Features: make([]float64, 3)}, points.ErrZeroRow},
		"no number":      {nil, Record{Features: []float64{1, math.NaN(), 0}}, points.ErrNonFinite},
		"no epsilon":     {func(s *ClientSettings) { s.Epsilon = 0 }, record, mechanism.ErrParam},
		"no relation":    {func(s *ClientSettings) { s.Relation = 0 }, record, sensitivity.ErrRelation},
		"no ledger":      {func(s *ClientSettings) { s.Ledger = nil }, record, mechanism.ErrLedger},
		"no label mode":  {func(s *ClientSettings) { s.LabelMode = "" }, record, mechanism.ErrLabels},
	} {
		s := sound
		if c.settings != nil {
			c.settings(&s)
		}
		q, read, err := newClient(t, s).Ask(t.Context(), c.record, unit)
		if !errors.Is(err, c.want) || q != nil || read != nil {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := newClient(t, sound).Ask(ctx, record, unit); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// A ledger pays for a question, and refuses one it has no budget for.
func TestAskSpends(t *testing.T) {
	s := sound
	path := filepath.Join(t.TempDir(), "ledger")
	if err := mechanism.CreateLedger(path, mechanism.Total{Kind: mechanism.GDP, Epsilon: 1.2, Delta: 1e-5}); err != nil {
		t.Fatal(err)
	}
	ledger, err := mechanism.OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	s.Ledger = ledger
	p := newClient(t, s)
	if _, _, err := p.Ask(t.Context(), record, unit); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Ask(t.Context(), record, unit); !errors.Is(err, mechanism.ErrBudgetExceeded) {
		t.Errorf("a second question: %v", err)
	}
}

// Without entropy there is no question.
func TestNoEntropyNoQuestion(t *testing.T) {
	before := system
	defer func() { system = before }()
	for _, bytes := range []int64{0, 1, 4, 8, 12} { // fewer than a question takes
		system = io.LimitReader(before, bytes)
		if q, read, err := newClient(t, sound).Ask(t.Context(), record, unit); !errors.Is(err, mechanism.ErrEntropy) || q != nil || read != nil {
			t.Errorf("%d bytes: %v", bytes, err)
		}
	}
}

// Errors name no value of the record.
func TestErrorsHoldNoValues(t *testing.T) {
	_, _, err := newClient(t, sound).Ask(t.Context(), Record{Features: []float64{0.123456, math.Inf(1), 0}, Label: 3}, unit)
	if err == nil || strings.Contains(err.Error(), "123") || strings.Contains(err.Error(), "Inf") {
		t.Errorf("%v", err)
	}
}

// What is secret is not printed by any verb, in no depth.
func TestSecretsAreNotPrinted(t *testing.T) {
	place := 424242
	secret := Record{Features: []float64{0.424242, 1}, Label: 424242}
	read := func(answer *Matches) ([]Match, error) { return readMatches(answer, [16]byte{}, 5, place) }
	type holder struct {
		Record Record
		read   func(*Matches) ([]Match, error)
	}
	for _, v := range []any{secret, &secret, []Record{secret}, read, &read, holder{secret, read}, &holder{secret, read}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%q", "%g"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "424242") {
				t.Errorf("%s of %T: %s", verb, v, text)
			}
		}
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "record", secret)
	if strings.Contains(log.String(), "424242") {
		t.Errorf("a log has %s", log.String())
	}
}
