package budget

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// verifyReport is the object of budget verify -json.
type verifyReport struct {
	Ledger   string                 `json:"ledger"`
	Head     string                 `json:"head"`
	Releases []paidReport           `json:"releases"`
	Spends   []accounts.SpendReport `json:"spends_without_release"`

	numbers map[uint64]int // of spends, from 1, by their lines
}

// paidReport says who paid for a release.
type paidReport struct {
	File    string `json:"file"`
	Release string `json:"release"`
	Spend   uint64 `json:"spend"` // its line, 0 for none
	Unit    string `json:"unit"`
	Paid    bool   `json:"paid"`
	Note    string `json:"note"`
}

// verify compares releases with the ledger that should have paid for them and has gone
// through a state.
func verify(e *cli.Env, path string, paths []string, at accounts.Head) error {
	if len(paths) == 0 {
		return cli.Usagef("want 'budget verify LEDGER RELEASE...': which releases should it have paid for?")
	}
	s, err := accounts.ReadLedger(path, at)
	if err != nil {
		return err
	}
	byID := make(map[[16]byte]mechanism.Entry)
	out := verifyReport{Ledger: path, Head: accounts.HeadOf(s), Spends: []accounts.SpendReport{}, numbers: make(map[uint64]int)}
	for i, entry := range s.Entries {
		byID[entry.ReleaseID], out.numbers[entry.Sequence] = entry, i+1
	}
	unpaid, seen := 0, make(map[uint64]bool)
	for _, file := range paths {
		r, err := files.ReadRelease(file)
		if err != nil {
			return err
		}
		entry, known := byID[r.ID]
		row := paidReport{File: file, Release: hex.EncodeToString(r.ID[:]), Note: "this ledger has not paid for it"}
		if known {
			row.Spend, row.Unit = entry.Sequence, entry.Unit
			if row.Paid, row.Note, err = PaidFor(r, s.Total.Kind, entry); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		if row.Paid {
			seen[entry.Sequence] = true
		} else {
			unpaid++
		}
		out.Releases = append(out.Releases, row)
	}
	for _, spend := range accounts.BudgetOf(s, path, nil, s.Entries).Spends {
		if !seen[spend.Sequence] {
			out.Spends = append(out.Spends, spend)
		}
	}
	if err := out.write(e); err != nil {
		return err
	}
	if unpaid > 0 {
		return fmt.Errorf("%s: %d of %d releases are not what it paid for", path, unpaid, len(paths))
	}
	return nil
}

// PaidFor reports whether a spend with the identifier of a release is for that release.
func PaidFor(r *release.Release, kind mechanism.Kind, entry mechanism.Entry) (paid bool, note string, err error) {
	compact, err := r.MarshalBinary()
	if err != nil {
		return false, "", err
	}
	price := mechanism.Spend{Epsilon: r.Privacy.Epsilon, Delta: r.Privacy.Delta, PureEpsilon: mechanism.LabelEpsilon(r.Labels.Epsilon, r.Sensitivity.Records), Protects: entry.Spend.Protects}
	if r.Privacy.Rule == mechanism.Classical.String() {
		price.Epsilon, price.Delta, price.Rho = 0, 0, r.Privacy.Rho
	}
	cost, err := kind.Price(entry.Spend)
	protects, noted := mechanism.ProtectionOfRelease(r), entry.Spend.Protects
	switch {
	case !entry.Committed:
		return false, "a spend has its number, but the ledger has no hash of it: so whether it is this release cannot be known", nil
	case entry.Sum != sha256.Sum256(compact):
		return false, "the ledger has another hash for it: the file was changed", nil
	case r.Ledger != entry.Sequence:
		return false, fmt.Sprintf("it says that line %d of its ledger paid for it", r.Ledger), nil
	case r.Unit != entry.UnitKind:
		return false, "it says that a " + r.Unit + " paid, and the spend is of a " + entry.UnitKind, nil
	case noted != protects && noted != mechanism.Protection{}:
		return false, fmt.Sprintf("it says that it protects %s, and the spend is for %s", protects, noted), nil
	case entry.Spend != price:
		return false, "the spend is not the price of the release", nil
	case err != nil || !alike(cost.Rho, entry.Cost.Rho) || !alike(cost.Pure, entry.Cost.Pure):
		return false, "the ledger has not charged what the spend costs: it was changed", nil
	}
	if noted == (mechanism.Protection{}) {
		return true, "paid; the ledger has not noted what the spend protects", nil
	}
	return true, "paid", nil
}

// alike allows for another machine's rounding.
func alike(a, b mechanism.Amount) bool {
	return math.Abs(a.Float()-b.Float()) <= 1e-12*math.Abs(a.Float())
}

func (r *verifyReport) write(e *cli.Env) error {
	if e.JSON {
		return e.Object(r)
	}
	table := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "release\tspend\tline\tunit\t\t")
	for _, row := range r.Releases {
		spend, line := "none", ""
		if row.Spend > 0 {
			spend, line = fmt.Sprint(r.numbers[row.Spend]), fmt.Sprint(row.Spend)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", row.File, spend, line, row.Unit, row.Note)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(r.Spends) == 0 {
		fmt.Fprintln(e.Stdout, "every spend of the ledger is for one of them")
		return nil
	}
	fmt.Fprintf(e.Stdout, "\nspends of the ledger for none of them: %d\n\n", len(r.Spends))
	table = tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "spend\tline\tunit\tepsilon\tdelta\trho\tpure epsilon\tprotects")
	for _, s := range r.Spends {
		fmt.Fprintf(table, "%d\t%d\t%s\t%g\t%g\t%.4g\t%g\t%s\n", r.numbers[s.Sequence], s.Sequence, s.Unit, s.Epsilon, s.Delta, s.Cost.Rho, s.PureEpsilon, s.Protects)
	}
	return table.Flush()
}
