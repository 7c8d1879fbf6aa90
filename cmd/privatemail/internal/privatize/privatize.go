// Package privatize is the verb privatize: it releases the first step of a file with differential privacy.
package privatize

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:    "privatize",
		Summary: "release the first step with differential privacy",
		Synopsis: []string{
			"FEATURES -sigma S -epsilon E -delta D -label-mode MODE -ledger FILE|none -unit NAME -out FILE [-labels FILE] [-alpha A] [FLAGS]",
			"FEATURES ... -dry-run",
		},
		About: `
Computes the first step of the iteration, adds noise calibrated to a proved
bound, and writes a release: the only file that may leave the machine. The verb
continue takes it further, anywhere, without the features. -label-mode says what
happens to labels: public, dropped or randomised. The release costs each row
epsilon and delta; a ledger of 'privatemail budget' counts that for -unit, the
name of the set. Rows need unit norm: -normalize-rows.`,
		More: `
-out ending in .json gets the readable form, any other the compact one.

What happens to labels after the release has to be said: public (they are known anyway, which needs
-relation features-replace or features-null), dropped (later steps go without), or randomised (each
is replaced at random, at the price -label-epsilon, and put into the release).

The release protects every row alike, and costs each of them its price. -unit is therefore the name
of the whole set, the same in every release with these rows; only with one private row
(-private-rows) is it the name of that row.

A ledger adds up what a unit has spent for the data sets that all its releases protect. It notes
-relation, -records, -private-rows and -rest-public of each, and refuses a release that protects
others than the earlier ones, unless -other-relation says that this is meant. Rows are known by
their numbers: keep a record at the same one.

The spend is written to the ledger ('privatemail budget create') before noise is drawn, and is never
given back: not after an error, not after Ctrl-C. -ledger none counts nothing.

-dry-run shows what the release would spend, its noise over its signal, and what would be left. It
spends nothing, writes nothing, and exits with 0 also where the release would be refused; -json
lists the reasons in "refused". The signal is a typical entry of the first step. Noise and signal
follow from the number of rows and columns and from the flags, with -rest-public from the public
rows too: the output of a dry run says nothing about a private row. An error may, as one without
-dry-run does: it names the row that is wrong.

Where the noise of an entry exceeds its signal, the release is refused before anything is spent,
unless -anyway is given. The refusal follows from the same figures, so it says nothing about a
private row either. The exit code is 1.

Epsilon, delta, label mode and ledger have no default. FEATURES is as for embed: .npy, .npz, .csv
and others. Labels are 0 to C-1 with a public C (-classes); without it the constant 65536 is
published instead. Names, and rows without a label, are refused.`,
		Examples: []string{
			"privatemail privatize birds/ -normalize-rows -sigma 6 -alpha 0.6 -classes 200 -label-mode public -relation features-replace -epsilon 1 -delta 1e-6 -ledger me.ledger -unit birds -new-unit -out birds.release",
			"privatemail privatize x.npy -sigma 6 -label-mode dropped -epsilon 1 -delta 1e-6 -ledger none -dry-run",
		},
		Common:  []string{"epsilon", "delta", "sigma", "alpha", "classes", "normalize-rows", "relation", "label-mode", "label-epsilon", "labels", "ledger", "unit", "new-unit", "dry-run", "out"},
		Prints:  cli.PrintsJSON | cli.PrintsProgress | cli.PrintsDetails,
		Without: settings.NotPrivate(),
		Define:  settings.Steered[privatizeFlags],
	}
}

type privatizeFlags struct {
	work                          settings.Work
	price                         settings.Price
	step                          settings.FirstStep
	labelMode, ledger, unit, kind string
	labelEpsilon                  float64
	files                         files.Flags
	out                           string
	at                            accounts.Head
	normalizeRows, restPublic     bool
	newUnit, otherRelation        bool
	dryRun, anyway                bool
	privateRows                   []int
	records                       int
}

func (f *privatizeFlags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	f.price.Define(fs)
	f.step.Define(fs, "equal")
	cli.CountVar(fs, &f.step.Classes, "classes", 0, "public number of classes `C`: labels are 0 to C-1\n(default: 65536; required for randomised labels)")
	fs.BoolVar(&f.normalizeRows, "normalize-rows", false, "divide every feature row by its norm first\nWithout it rows must have unit norm")
	settings.ChoiceVar(fs, &f.labelMode, "label-mode", "", []string{release.ModePublic, release.ModeDropped, release.ModeRandomised}, "labels after the release: public, dropped or randomised\n`MODE` has no default")
	settings.NumberVar(fs, &f.labelEpsilon, "label-epsilon", 0, settings.Positive(), "price `E` of randomised labels, added to -epsilon")
	fs.StringVar(&f.ledger, "ledger", "", "spend from the ledger `FILE`, or none; no default")
	accounts.HeadVar(fs, &f.at)
	fs.StringVar(&f.unit, "unit", "", "`NAME` under which the ledger counts these rows\nThe ledger stores a hash of it, with the key of the hash")
	fs.BoolVar(&f.newUnit, "new-unit", false, "the unit has not spent from this ledger before\nWithout it a name that the ledger does not know is refused, since a mistyped name would be a second budget for the same rows")
	fs.BoolVar(&f.otherRelation, "other-relation", false, "the release may protect other data sets than earlier ones\nby another -relation, -records or -private-rows than the earlier spends of the unit; the total of the unit is then for what all of them protect, which may be nothing. Without it such a release is refused")
	settings.ChoiceVar(fs, &f.kind, "unit-kind", release.UnitRecord, []string{release.UnitRecord, release.UnitClient}, "`KIND` of the unit: record or client")
	cli.CountVar(fs, &f.records, "records", 0, "the noise is for `J` rows that change together\nthe most that one client has in the file; a public number (default 1; required for -unit-kind client)")
	f.files.Define(fs)
	settings.RowsVar(fs, &f.privateRows, "private-rows", "only these `ROWS` may be private, such as 0,17\nThey count from 0, and the list is public (default: any row)")
	fs.BoolVar(&f.restPublic, "rest-public", false, "all rows but the one of -private-rows are public\nThe others, their labels and their number do not depend on it: much less noise")
	fs.StringVar(&f.out, "out", "", "write the release to `FILE`\nrequired without -dry-run")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show cost and noise; spend and write nothing\nwhat the release would spend, its noise over its signal, and what would be left")
	fs.BoolVar(&f.anyway, "anyway", false, "release also where the noise exceeds the signal\nof an entry; without it such a release is refused before anything is spent")
}

// settings checks the flags and translates them.
func (f *privatizeFlags) settings(set map[string]bool) (*privatemail.PrivateSettings, error) {
	switch {
	case f.price.Epsilon == 0 || f.price.Delta == 0:
		return nil, cli.Usagef("-epsilon E and -delta D are required and have no default: 'privatemail sensitivity' shows what they mean for the noise")
	case f.labelMode == "":
		return nil, cli.Usagef("-label-mode is missing: say what happens to labels after the release, public, dropped or randomised")
	case f.ledger == "":
		return nil, cli.Usagef("-ledger FILE is missing: create one with 'privatemail budget create FILE -epsilon E -delta D', or say -ledger none to count nothing")
	case f.at.Given && f.ledger == accounts.NoLedger:
		return nil, cli.Usagef("-at is a state of a ledger: name one with -ledger FILE, or leave it out")
	case f.unit == "" && f.ledger != accounts.NoLedger:
		return nil, cli.Usagef("-unit NAME is missing: whose budget is spent?")
	case f.kind == release.UnitClient && f.records == 0:
		return nil, cli.Usagef("-unit-kind client needs -records J: a client pays for all its rows, so how many may there be?")
	case f.out == "" && !f.dryRun:
		return nil, cli.Usagef("-out FILE is missing: where should the release go?")
	case f.labelMode == release.ModeRandomised && !set["label-epsilon"]:
		return nil, cli.Usagef("-label-mode randomised needs -label-epsilon E, the price of the labels")
	case f.labelMode != release.ModeRandomised && set["label-epsilon"]:
		return nil, cli.Usagef("-label-epsilon belongs to -label-mode randomised: add that, or leave it out")
	case f.labelMode == release.ModeRandomised && f.step.Classes == 0:
		return nil, cli.Usagef("-label-mode randomised needs -classes C: a label is replaced by one of the public classes")
	case f.labelMode == release.ModeDropped && set["table"] && !set["alpha"]: // with other modes later steps use it
		return nil, cli.Usagef("-table is about labels: add -alpha A to use them")
	case f.restPublic && len(f.privateRows) != 1:
		return nil, cli.Usagef("-rest-public needs -private-rows with the one private row")
	case f.restPublic && set["alpha"] && f.step.Classes == 0:
		return nil, cli.Usagef("-rest-public needs -classes C: every class the private row may have is tried")
	}
	s := &privatemail.PrivateSettings{
		LabelMode: f.labelMode, LabelEpsilon: f.labelEpsilon, Unit: mechanism.Unit{Kind: f.kind, Name: f.unit, New: f.newUnit, OtherRelation: f.otherRelation},
		Records: f.records, NormalizeRows: f.normalizeRows, PrivateRows: f.privateRows, RestPublic: f.restPublic,
	}
	if err := f.price.Apply(s); err != nil {
		return nil, err
	}
	if s.LabelMode == release.ModePublic && s.Relation.LabelPrivate() {
		return nil, cli.Usagef("-label-mode public with -relation %v, which protects the label: choose -relation features-replace, or -label-mode dropped or randomised", s.Relation)
	}
	if err := f.step.Apply(s); err != nil {
		return nil, err
	}
	if s.Classes == 0 {
		s.Classes = settings.PublicClasses
	}
	if s.Unit.Name == "" {
		s.Unit.Name = "unnamed" // without a ledger nobody reads it
	}
	return s, nil
}

func (f *privatizeFlags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	name, err := embed.OneFeatures(names)
	if err != nil {
		return err
	}
	s, err := f.settings(set)
	if err != nil {
		return err
	}
	in, err := f.input(e, name, s)
	if err != nil {
		return err
	}
	if f.dryRun {
		return f.plan(ctx, e, in, s)
	}
	if err := files.CheckPlace(f.out); err != nil {
		return err
	}
	if f.out == files.StandardOutput {
		e.Stdout = e.Stderr            // the release goes there, and nothing else
		signal.Ignore(syscall.SIGPIPE) // a reader that has gone is an error, not the end
	}
	s.Ledger = mechanism.NoLedger
	var ledger *mechanism.Ledger
	if f.ledger != accounts.NoLedger {
		if ledger, err = accounts.OpenLedger(f.ledger, f.at); err != nil {
			return err
		}
		defer ledger.Close()
		s.Ledger = ledger
		if err := accounts.CheckUnit(e, f.ledger, s.Unit); err != nil {
			return err
		}
	}
	var w worth
	s.Confirm = func(noise mechanism.Calibration, signal float64) error {
		if w = (worth{noise, signal}); f.anyway {
			return nil
		}
		return w.refusal()
	}
	d, out, err := f.release(ctx, e, in, s)
	if out == nil {
		return err
	}
	// The budget is spent: an interrupt does not take the release away now.
	compact, lost := f.deliver(context.WithoutCancel(ctx), out)
	if lost != nil {
		return errors.Join(lost, err)
	}
	if err != nil {
		return fmt.Errorf("%s is written and may be used, but: %w", f.out, text.Bare(err))
	}
	if e.Quiet && !e.JSON {
		return nil
	}
	return f.show(ctx, e, s, d, w, out, sha256.Sum256(compact), ledger)
}

// input finds the files. Labels are left out when nothing reads them.
func (f *privatizeFlags) input(e *cli.Env, name string, s *privatemail.PrivateSettings) (files.Input, error) {
	in, err := f.files.Resolve(e, name)
	if err != nil {
		return in, err
	}
	if err := files.RefuseInput("-out", f.out, in); err != nil {
		return in, err
	}
	if files.IsRelease(f.out) {
		return in, fmt.Errorf("%s: is a release, and was paid for; name another file", f.out)
	}
	if s.Alpha == 0 && s.LabelMode != release.ModeRandomised {
		if f.files.Labels != "" {
			e.Note("-labels has no effect without -alpha")
		}
		in.Labels = ""
	} else if in.Labels == "" && s.LabelMode == release.ModeRandomised {
		return in, cli.Usagef("%s comes without labels to randomise: add -labels FILE, or choose another -label-mode%s", name, files.LabelAdvice(in))
	} else if in.Labels == "" {
		return in, cli.Usagef("%s comes without labels: add -labels FILE, or leave out -alpha%s", name, files.LabelAdvice(in))
	}
	return in, nil
}

// release reads the files and does the work; d is the dimension of the features.
func (f *privatizeFlags) release(ctx context.Context, e *cli.Env, in files.Input, s *privatemail.PrivateSettings) (d int, _ *release.Release, _ error) {
	var out *release.Release
	err := files.WithRows(ctx, e, f.work, false, in, "", func(engine *privatemail.Engine, x blas32.General, y []int32) (err error) {
		if err := classesOnly(in, y); err != nil {
			return err
		}
		if err := f.checkPrivateRows(in, x.Rows); err != nil {
			return err
		}
		d = x.Cols
		out, err = engine.Privatize(ctx, x, y, s)
		return explainRelease(in, err)
	})
	return d, out, err
}

// checkPrivateRows refuses numbers of -private-rows that no row has.
func (f *privatizeFlags) checkPrivateRows(in files.Input, rows int) error {
	for _, row := range f.privateRows {
		if row >= rows {
			return fmt.Errorf("%s: -private-rows has %d, and the %d rows have the numbers 0 to %d", in.Features, row, rows, rows-1)
		}
	}
	return nil
}

// explainRelease says what to do about a release that is refused for its noise, and about a
// row of zeros, with or without -normalize-rows.
func explainRelease(in files.Input, err error) error {
	zero, ok := errors.AsType[*privatemail.ZeroRowError](err)
	switch {
	case errors.Is(err, errDrowned):
		return fmt.Errorf("%s: %w", in.Features, text.Bare(err))
	case ok:
		return fmt.Errorf("%s: row %d is zero; only the relations null and features-null allow one such row, and it must be private; remove the row", in.Features, zero.Row+1)
	}
	return err
}

// classesOnly refuses labels that a private step cannot use: missing ones, and names, whose numbers would depend on the private rows.
func classesOnly(in files.Input, y []int32) error {
	if in.ClassNames() != nil {
		return fmt.Errorf("%s: the labels are names, and numbering those that occur would depend on private rows; replace them by numbers from a public list of classes, 0 to C-1", in.Labels)
	}
	if slices.Contains(y, -1) {
		return fmt.Errorf("%s: rows have no label (-1 or nothing), and a private step needs one for each: give them one, remove them, or leave out -alpha", in.Labels)
	}
	return nil
}

// deliver writes the release and returns its compact form. Whether a device or a
// pipe takes it shows only now, and so does a full disk; what was paid for is then
// kept where temporary files go, and the error says where.
func (f *privatizeFlags) deliver(ctx context.Context, r *release.Release) (compact []byte, err error) {
	if compact, err = r.MarshalBinary(); err != nil {
		return nil, fmt.Errorf("the budget is spent, but the release has no compact form: %w", err)
	}
	if err = files.WriteRelease(ctx, f.out, r, compact); err == nil {
		return compact, nil
	}
	kept := filepath.Join(os.TempDir(), fmt.Sprintf("privatemail-%x.release", r.ID))
	if lost := files.KeepRelease(kept, compact); lost != nil {
		return nil, fmt.Errorf("the budget is spent, but the release could not be written: %w; nor kept: %w", err, lost)
	}
	return nil, fmt.Errorf("the budget is spent, but the release could not be written: %w; it is kept in %s: move it from there, another one costs again", err, kept)
}

// privatizeReport is the object of privatize -json: nothing in it is private.
type privatizeReport struct {
	spending
	ID           string `json:"id"`
	Ledger       uint64 `json:"ledger"` // sequence number, 0 without one
	Head         string `json:"head"`   // of the ledger, for -at; empty without one
	Protects     string `json:"protects"`
	UnitProtects string `json:"unit_protects"` // what all spends of the unit protect, "none", "unknown", or empty without a ledger
	SHA256       string `json:"sha256"`        // of the compact form
	Out          string `json:"out"`
}

func (f *privatizeFlags) show(ctx context.Context, e *cli.Env, s *privatemail.PrivateSettings, d int, worth worth, r *release.Release, sum [sha256.Size]byte, ledger *mechanism.Ledger) error {
	g := accounts.Promised(ctx, r)
	stake := accounts.Stake{
		Guarantee: g, Mode: s.LabelMode, LabelEpsilon: s.LabelEpsilon,
		Unit: r.Unit, RestPublic: s.RestPublic, NoLedger: ledger == nil, Rows: r.Rows,
		Noise: r.Privacy.Sigma, Signal: worth.signal,
	}
	cautions := stake.Cautions()
	head := ""
	if ledger != nil {
		head = mechanism.FormatHead(ledger.Head())
	}
	if e.JSON {
		return e.Object(privatizeReport{
			spending: spending{
				N: r.Rows, D: d, K: r.Columns, Relation: r.Sensitivity.Relation, Operator: r.Sensitivity.Operator,
				Derivation: r.Sensitivity.Derivation, Epsilon: r.Privacy.Epsilon, EpsilonTotal: stake.Total(), Delta: r.Privacy.Delta,
				OddsReport: g.Report(), Rule: r.Privacy.Rule, Sensitivity: r.Sensitivity.Total, Sigma: r.Privacy.Sigma, Mu: r.Privacy.Mu,
				Rho: r.Privacy.Rho, Records: r.Sensitivity.Records, LabelMode: r.Labels.Mode, LabelEpsilon: r.Labels.Epsilon,
				SignalRMS: worth.signal, NoiseToSignal: jsonform.Number(worth.ratio()), Cautions: cautions,
			},
			ID: hex.EncodeToString(r.ID[:]), Ledger: r.Ledger, Head: head, Protects: mechanism.ProtectionOfRelease(r).String(),
			UnitProtects: f.unitProtects(ledger, s.Unit), SHA256: hex.EncodeToString(sum[:]), Out: f.out,
		})
	}
	t := report.Facts(e.Stdout)
	accounts.WriteWorth(t, r, g, e.Verbose)
	if ledger != nil {
		f.writeSpend(t, s.Unit, r.Ledger)
		fmt.Fprintf(t, "head\t%s; keep it elsewhere, and give it to -at\n", head)
	} else {
		fmt.Fprintln(t, "ledger\tnone: nothing was counted")
	}
	fmt.Fprintf(t, "wrote\t%s\n", f.out)
	if err := t.Flush(); err != nil {
		return err
	}
	accounts.Warn(e, cautions)
	return nil
}

// unitProtects returns what all spends of the unit protect.
func (f *privatizeFlags) unitProtects(ledger *mechanism.Ledger, unit mechanism.Unit) string {
	if ledger == nil {
		return ""
	}
	balance, err := ledger.Balance(unit)
	if err != nil { // the release is made and paid for
		return ""
	}
	return mechanism.AllProtect(balance.Kinds()...)
}

// writeSpend says which spend of the ledger a line is, and what its unit has spent.
func (f *privatizeFlags) writeSpend(w io.Writer, unit mechanism.Unit, line uint64) {
	account, err := accounts.AccountAt(f.ledger, unit)
	if err != nil { // the release is made and paid for
		fmt.Fprintf(w, "ledger\tline %d of %s, which could not be read again\n", line, f.ledger)
		return
	}
	fmt.Fprintf(w, "ledger\tspend %d of %s, in its line %d\n", account.Number(line), f.ledger, line)
	account.Write(w)
}
