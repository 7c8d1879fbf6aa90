package paper

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// A Record is what is private: a row of features, of any length but 0, and its
// class. Packages fmt and slog do not print it, unless it lies in an unexported
// field of another value; encoding/json does.
type Record struct {
	Features []float64
	Label    int32
}

// Format implements fmt.Formatter: for all verbs the number of features and no
// more, so that a record does not get into a log by mistake.
func (r Record) Format(s fmt.State, _ rune) {
	fmt.Fprintf(s, "private record of %d features", len(r.Features))
}

// LogValue implements slog.LogValuer, as Format does for fmt.
func (r Record) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(r)) }

// ClientSettings say what a question is worth. None of these has a default.
type ClientSettings struct {
	// Epsilon and Delta are the guarantee for the record under Relation.
	Epsilon, Delta float64
	Relation       sensitivity.Relation
	// LabelMode says what the server gets of the labels of hidden rows:
	// release.ModeDropped or release.ModeRandomised, the latter at
	// LabelEpsilon on top. release.ModePublic goes only with a relation that
	// takes the label to be public.
	LabelMode    string
	LabelEpsilon float64
	// Ledger is a *mechanism.Ledger, mechanism.NoLedger, or another budget.
	Ledger mechanism.Budget

	// SkipOwnClass draws no dummy of the record's own class, as the paper has
	// it. Who is missing is then a function of the label: it goes only with a
	// relation that takes the label to be public. Default: one of every class.
	SkipOwnClass bool
}

// A Client asks questions as Algorithm 1 does. It is safe for concurrent use.
type Client struct {
	engine   *privatemail.Engine
	public   *Public
	method   Method
	settings ClientSettings
}

// A Match is a row of the server's gallery.
type Match struct {
	ID int64
	// Distance in the embedding that was searched.
	Distance float64
}

// NewClient checks that the settings keep what they promise. The engine must stay
// open while questions are asked. The error is ErrMethod, or sensitivity.ErrRelation for settings
// that would show a label which the relation protects.
func NewClient(engine *privatemail.Engine, public *Public, method Method, settings ClientSettings) (*Client, error) {
	if err := method.Check(); err != nil {
		return nil, err
	}
	if settings.Relation.LabelPrivate() {
		if settings.LabelMode == release.ModePublic {
			return nil, fmt.Errorf("paper: %w: the label is protected and would be disclosed: relation %v with public labels; drop or randomise them", sensitivity.ErrRelation, settings.Relation)
		}
		if settings.SkipOwnClass {
			return nil, fmt.Errorf("paper: %w: the label is protected and would be disclosed: relation %v without a dummy of the record's own class", sensitivity.ErrRelation, settings.Relation)
		}
	}
	return &Client{engine: engine, public: public, method: method, settings: settings}, nil
}

// Ask makes a question about the record, to be sent to a Server, and read, a function for the
// Server's answer: it returns the matches of the record, nearest first, or ErrMatches. The place
// of the record among the hidden rows stays in read, where no verb of package fmt prints it.
//
// unit is whose budget pays for the question. The start of the iteration is drawn again for every
// question. Errors are ErrRecord, kernel.ErrNonFinite, privatemail.ErrZeroRow, mechanism.ErrEntropy and those
// of privatemail.Engine.Privatize64, of which mechanism.ErrSpent means that the
// budget is spent; none of them holds a value of the record.
func (c *Client) Ask(ctx context.Context, record Record, unit mechanism.Unit) (question *Question, read func(answer *Matches) ([]Match, error), err error) {
	if len(record.Features) != c.public.Dimension() {
		return nil, nil, fmt.Errorf("paper: %w: %d features, want %d", ErrRecord, len(record.Features), c.public.Dimension())
	}
	if record.Label < 0 || int(record.Label) >= c.public.Classes() {
		return nil, nil, fmt.Errorf("paper: %w: the label is not in 0 .. %d", ErrRecord, c.public.Classes()-1)
	}
	// The error does not say where, or what.
	if slices.ContainsFunc(record.Features, func(v float64) bool { return v-v != 0 }) {
		return nil, nil, fmt.Errorf("paper: the record: %w", points.ErrNonFinite)
	}
	row := slices.Clone(record.Features)
	if points.Normalize(row) == 0 {
		return nil, nil, fmt.Errorf("paper: the record: %w", points.ErrZeroRow)
	}
	skip := -1
	if c.settings.SkipOwnClass {
		skip = int(record.Label)
	}
	crowd, err := hide(c.public, skip)
	if err != nil {
		return nil, nil, err
	}
	features, labels := crowd.rows(c.public, row, record.Label)
	out, err := c.engine.Privatize64(ctx, features, labels, &privatemail.PrivateSettings{
		Epsilon: c.settings.Epsilon, Delta: c.settings.Delta, Relation: c.settings.Relation,
		LabelMode: c.settings.LabelMode, LabelEpsilon: c.settings.LabelEpsilon,
		Ledger: c.settings.Ledger, Unit: unit,
		Bandwidth: c.method.Bandwidth, Alpha: c.method.Alpha, Table: c.method.Table, Classes: c.public.Classes(),
		Dim: c.method.Dim, SigmaQ: c.method.SigmaQ, Seed: crowd.seed,
		PrivateRows: crowd.places(),
	})
	if err != nil {
		// Where only the hash of the release could not be noted there is one,
		// but no ledger that knows it.
		return nil, nil, fmt.Errorf("paper: %w", err)
	}
	question = &Question{Public: c.public.Hash(), Release: out}
	if c.settings.LabelMode == release.ModePublic {
		question.Labels = labels
	}
	hidden, place := len(crowd.dummies)+1, crowd.place
	return question, func(answer *Matches) ([]Match, error) { return readMatches(answer, out.ID, hidden, place) }, nil
}

// rows returns the hidden rows and behind them the public ones.
func (c *crowd) rows(public *Public, row []float64, label int32) (blas64.General, []int32) {
	own, d := public.Features(), len(row)
	n := len(c.dummies) + 1 + own.Rows
	out := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, 0, n*d)}
	labels := make([]int32, 0, n)
	for i, next := 0, 0; i <= len(c.dummies); i++ {
		if i == c.place {
			out.Data, labels = append(out.Data, row...), append(labels, label)
			continue
		}
		dummy := c.dummies[next]
		next++
		out.Data, labels = append(out.Data, own.Data[dummy*own.Stride:][:d]...), append(labels, public.Labels()[dummy])
	}
	out.Data = append(out.Data, own.Data...)
	return out, append(labels, public.Labels()...)
}

// readMatches returns the matches of a hidden row in the answer to a question.
func readMatches(answer *Matches, question [16]byte, hidden, place int) ([]Match, error) {
	if answer == nil {
		return nil, fmt.Errorf("paper: %w: there is none", ErrMatches)
	}
	if err := answer.Check(); err != nil {
		return nil, err
	}
	if answer.Question != question || answer.Hidden != hidden {
		return nil, fmt.Errorf("paper: %w", ErrMatches)
	}
	ids, distances := answer.Row(place)
	out := make([]Match, len(ids))
	for i, id := range ids {
		out[i] = Match{ID: id, Distance: distances[i]}
	}
	return out, nil
}
