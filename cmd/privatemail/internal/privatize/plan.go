package privatize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// spending is what privatize -json says of a spend, before it and after. Nothing in it
// depends on a private row.
type spending struct {
	N            int     `json:"n"`
	D            int     `json:"d"`
	K            int     `json:"dim"`
	Relation     string  `json:"relation"`
	Operator     string  `json:"operator"` // as in the release
	Derivation   string  `json:"derivation"`
	Epsilon      float64 `json:"epsilon"`
	EpsilonTotal float64 `json:"epsilon_total"` // with randomised labels
	Delta        float64 `json:"delta"`
	accounts.OddsReport
	Rule          string             `json:"rule"`
	Sensitivity   float64            `json:"sensitivity"`
	Sigma         float64            `json:"sigma"`
	Mu            float64            `json:"mu"`
	Rho           float64            `json:"rho"`
	Records       int                `json:"records"` // that change together
	LabelMode     string             `json:"label_mode"`
	LabelEpsilon  float64            `json:"label_epsilon"`
	SignalRMS     float64            `json:"signal_rms"`
	NoiseToSignal jsonform.Number    `json:"noise_to_signal"`
	Cautions      []accounts.Caution `json:"cautions"`
}

// spendPlan is the object of privatize -dry-run -json: what a run would spend, and what for.
type spendPlan struct {
	DryRun bool `json:"dry_run"` // true
	spending
	// Refused has what a run would be refused for: "noise" without -anyway, "budget".
	Refused []string    `json:"refused"`
	Ledger  *ledgerPlan `json:"ledger"` // null without one
}

// ledgerPlan is what a spend would do to the account of a unit.
type ledgerPlan struct {
	Path         string               `json:"path"`
	NewUnit      bool                 `json:"new_unit"` // the ledger does not know it
	Cost         accounts.PotsReport  `json:"cost"`
	Fits         bool                 `json:"fits"`
	Budget       float64              `json:"budget_epsilon"`
	EpsilonSoFar float64              `json:"epsilon_so_far"`
	EpsilonAfter float64              `json:"epsilon_after"`
	Before       accounts.PotsReport  `json:"left_before"`
	After        *accounts.PotsReport `json:"left_after"`    // null where it does not fit
	Protects     string               `json:"unit_protects"` // what all spends of the unit protect then

	total mechanism.Total
}

// errDryRun ends a call of Privatize where a dry run has seen enough.
var errDryRun = errors.New("a dry run ends here")

// plan shows what a run would spend, and what the release would be worth. Without
// -rest-public only the size of the matrix is used. The ledger is read, and nothing is
// locked or written.
func (f *privatizeFlags) plan(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.PrivateSettings) error {
	if !f.restPublic {
		in.Labels = ""
	}
	var (
		w    worth
		n, d int
	)
	asked := *s
	asked.Ledger = mechanism.NoLedger
	asked.Confirm = func(noise mechanism.Calibration, signal float64) error {
		w = worth{noise, signal}
		return errDryRun
	}
	err := files.WithRows(ctx, e, f.work, false, in, "", func(engine *privatemail.Engine, x blas32.General, y []int32) error {
		if err := classesOnly(in, y); err != nil {
			return err
		}
		if err := f.checkPrivateRows(in, x.Rows); err != nil {
			return err
		}
		n, d = x.Rows, x.Cols
		_, err := engine.Privatize(ctx, x, y, &asked)
		return explainRelease(in, err)
	})
	if !errors.Is(err, errDryRun) {
		return err
	}
	at, err := f.stakeOf(ctx, n, s, w)
	if err != nil {
		return err
	}
	r := spendPlan{
		DryRun: true, Refused: []string{}, spending: spending{
			N: n, D: d, K: s.Dim, Relation: s.Relation.String(), Operator: w.noise.Bound().Query().Operator.Kind(),
			Derivation: w.noise.Bound().Derivation(), Epsilon: w.noise.Epsilon(), EpsilonTotal: at.Total(), Delta: w.noise.Delta(),
			OddsReport: at.Report(), Rule: w.noise.Rule().String(), Sensitivity: w.noise.L2Sensitivity(), Sigma: w.noise.Sigma(), Mu: w.noise.Mu(), Rho: w.noise.Rho(),
			Records: max(s.Records, 1), LabelMode: s.LabelMode, LabelEpsilon: s.LabelEpsilon, SignalRMS: w.signal, NoiseToSignal: jsonform.Number(w.ratio()),
			Cautions: at.Cautions(),
		}}
	if w.drowned() && !f.anyway {
		r.Refused = append(r.Refused, "noise")
	}
	if f.ledger != accounts.NoLedger {
		if r.Ledger, err = f.planSpend(s.Unit, w.noise.Spend(s.LabelEpsilon)); err != nil {
			return err
		}
		if !r.Ledger.Fits {
			r.Refused = append(r.Refused, "budget")
		}
	}
	if e.JSON {
		return e.Object(r)
	}
	return f.showPlan(e, &r, at)
}

// stakeOf is what cautions are about before there is a release.
func (f *privatizeFlags) stakeOf(ctx context.Context, n int, s *privatemail.PrivateSettings, w worth) (accounts.Stake, error) {
	real, err := f.betweenRecords(ctx, n, s, w.noise)
	if err != nil {
		return accounts.Stake{}, err
	}
	g := accounts.Guarantee{Epsilon: w.noise.Epsilon(), Delta: w.noise.Delta(), Mu: w.noise.Mu(), Relation: s.Relation, Records: max(s.Records, 1), RealMu: real}
	if s.LabelMode == release.ModeRandomised {
		g.Labels = mechanism.LabelEpsilon(s.LabelEpsilon, g.Records)
	}
	return accounts.Stake{
		Guarantee: g, Mode: s.LabelMode, LabelEpsilon: s.LabelEpsilon, Unit: s.Unit.Kind, RestPublic: s.RestPublic,
		NoLedger: f.ledger == accounts.NoLedger, Rows: n, Noise: w.noise.Sigma(), Signal: w.signal,
	}, nil
}

// betweenRecords returns the mu between two real records, as privatemail.BetweenRecords
// does for a release.
func (f *privatizeFlags) betweenRecords(ctx context.Context, n int, s *privatemail.PrivateSettings, noise mechanism.Calibration) (float64, error) {
	real := s.Relation.Real()
	if real == s.Relation {
		return noise.Mu(), nil
	}
	if s.RestPublic {
		return 2 * noise.Mu(), nil
	}
	q, err := iterate.RandomStart(ctx, n, s.Dim, s.Seed, s.SigmaQ)
	if err != nil {
		return 0, err
	}
	bound, err := noise.Bound().Query().Tight(real, q, sensitivity.Rows{Private: s.PrivateRows})
	if err != nil {
		return 0, err
	}
	return MuBetween(noise, bound.Exact()), nil
}

// MuBetween is the mu of a release between two data sets whose exact first steps differ by
// a bound, and which have one null record between them.
func MuBetween(noise mechanism.Calibration, bound float64) float64 {
	return min(2*noise.Mu(), (bound+2*noise.Bound().Eta()+noise.GridError())/noise.Sigma())
}

// planSpend says what a spend would do to the account of a unit.
func (f *privatizeFlags) planSpend(unit mechanism.Unit, spend mechanism.Spend) (*ledgerPlan, error) {
	s, err := accounts.ReadLedger(f.ledger, f.at)
	if err != nil {
		return nil, err
	}
	cost, err := s.Total.Kind.Price(spend)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.ledger, text.Bare(err))
	}
	p := &ledgerPlan{Path: f.ledger, Cost: accounts.ReportPots(cost), Budget: s.Total.Epsilon, total: s.Total}
	balance, err := s.Balance(unit)
	switch {
	case errors.Is(err, mechanism.ErrUnknownUnit) && unit.New:
		p.NewUnit, balance.Remaining = true, s.Whole
	case errors.Is(err, mechanism.ErrUnknownUnit):
		return nil, accounts.UnknownUnit(s, f.ledger, unit, "; add -new-unit if it is a new one")
	case err != nil:
		return nil, err
	}
	p.Before, p.EpsilonSoFar, p.EpsilonAfter = accounts.ReportPots(balance.Remaining), balance.Epsilon, s.EpsilonOf(balance.Spent, cost)
	p.Protects = mechanism.AllProtect(append(balance.Kinds(), spend.Protects)...)
	if p.NewUnit {
		p.Protects = spend.Protects.String()
	}
	after, err := s.Total.Charge(unit, mechanism.Spent{Pots: balance.Spent, Protects: balance.Protects}, spend)
	switch {
	case err == nil:
		p.Fits = true
		p.After = &accounts.PotsReport{Rho: max(0, s.Whole.Rho.Float()-after.Rho.Float()), Pure: max(0, s.Whole.Pure.Float()-after.Pure.Float())}
	case errors.Is(err, mechanism.ErrOtherRelation):
		return nil, fmt.Errorf("%s: %w; %s", f.ledger, text.Bare(err), files.SayOtherRelation)
	case !errors.Is(err, mechanism.ErrBudgetExceeded):
		return nil, fmt.Errorf("%s: %w", f.ledger, text.Bare(err))
	}
	return p, nil
}

// showPlan prints the plan for a person.
func (f *privatizeFlags) showPlan(e *cli.Env, r *spendPlan, at accounts.Stake) error {
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "would release\t%d x %d, relation %s\n", r.N, r.K, r.Relation)
	fmt.Fprintf(t, "guarantee\tepsilon %s, delta %g for %s\n", accounts.CloselyTo(r.EpsilonTotal, 6), r.Delta, accounts.RowsThatChange(r.Records, f.kind))
	if e.Verbose {
		at.Write(t)
	} else {
		at.WriteReal(t)
	}
	fmt.Fprintf(t, "noise\tstandard deviation %.5g of an entry, for a sensitivity of %s\n", r.Sigma, accounts.AtMost(r.Sensitivity, 5))
	fmt.Fprintf(t, "signal\t%.5g, a typical entry of the first step\n", r.SignalRMS)
	verdict := "the noise of an entry does not exceed its signal"
	switch drowned := !(r.NoiseToSignal <= 1); {
	case drowned && f.anyway:
		verdict = "the noise of an entry exceeds its signal, and -anyway is given"
	case drowned:
		verdict = "the noise of an entry exceeds its signal: refused without -anyway"
	}
	fmt.Fprintf(t, "ratio\t%.3g: %s\n", float64(r.NoiseToSignal), verdict)
	if r.Ledger != nil {
		r.Ledger.write(t)
	} else {
		fmt.Fprintln(t, "ledger\tnone: nothing would be counted")
	}
	from := "the number of rows and columns and the flags: no number of a row and no label is in them"
	if f.restPublic {
		from = "the flags and the rows that -rest-public says are public: nothing of the private row is in them"
	}
	fmt.Fprintf(t, "dry run\tnothing is spent or written; the figures follow from %s\n", from)
	if err := t.Flush(); err != nil {
		return err
	}
	if !e.Quiet {
		accounts.Warn(e, r.Cautions)
	}
	return nil
}

// write says what would be spent, and what would be left.
func (p *ledgerPlan) write(w io.Writer) {
	who := ""
	if p.NewUnit {
		who = ", a unit that it does not know yet"
	}
	fmt.Fprintf(w, "would spend\t%s from %s%s\n", p.pots(p.Cost, false), p.Path, who)
	fmt.Fprintf(w, "so far\tepsilon %s of %g\n", accounts.Closely(p.EpsilonSoFar), p.Budget)
	fmt.Fprintf(w, "left\t%s\n", p.pots(p.Before, true))
	if !p.Fits {
		fmt.Fprintf(w, "after\tit does not fit and is refused: it would make it epsilon %s of %g\n", accounts.Closely(p.EpsilonAfter), p.Budget)
		return
	}
	fmt.Fprintf(w, "after\tepsilon %s of %g, %s\n", accounts.Closely(p.EpsilonAfter), p.Budget, accounts.ForWhat(p.Protects))
	fmt.Fprintf(w, "\tleft: %s\n", p.pots(*p.After, true))
}

// pots says what an amount is in the pots that the ledger has, as epsilons: rounded down
// where it is what is left, and up where it is a price.
func (p *ledgerPlan) pots(amount accounts.PotsReport, left bool) string {
	epsilon, err := mechanism.EpsilonAt(math.Sqrt(2*amount.Rho), p.total.Delta)
	if err != nil {
		epsilon = 0 // there is no noise in it
	}
	noise, pure := accounts.Closely(epsilon), accounts.Closely(amount.Pure)
	if left {
		noise, pure = accounts.AtLeast(epsilon*(1-1e-9), 4), accounts.AtLeast(amount.Pure, 4)
	}
	switch kind := p.total.Kind; {
	case kind == mechanism.Pure:
		return "epsilon " + pure
	case kind == mechanism.Mixed && (left || amount.Pure > 0):
		return fmt.Sprintf("epsilon %s of noise, epsilon %s of pure mechanisms", noise, pure)
	}
	return fmt.Sprintf("epsilon %s of noise", noise)
}
