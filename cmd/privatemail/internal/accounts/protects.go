package accounts

import (
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// ForWhat says which data sets a total of several spends is for, by the text of mechanism.AllProtect.
func ForWhat(protects string) string {
	switch protects {
	case "none":
		return "no pair of data sets is known to be protected by all of these spends: the total promises nothing"
	case "unknown":
		return "relation unknown: the ledger has not noted which pairs of data sets all of these spends protect, so the total is for none that is known"
	}
	return fmt.Sprintf("for the pairs of data sets that all of these spends protect (%s), and for no others", protects)
}

// writeProtects says what the total of the account is for.
func (a *account) writeProtects(w io.Writer) {
	if p := a.balance.Protects; len(a.spends) == 1 && p != (mechanism.Protection{}) {
		fmt.Fprintf(w, "\tfor the pairs of data sets that it protects (%s), and for no others\n", p)
		return
	}
	fmt.Fprintf(w, "\t%s\n", ForWhat(mechanism.AllProtect(a.balance.Kinds()...)))
}

// writeParts lists what is known for each kind of protection, where there are several.
func (a *account) writeParts(w io.Writer) {
	for i, part := range a.balance.Subtotals {
		what := "parts"
		if i > 0 {
			what = ""
		}
		if part.Protects == (mechanism.Protection{}) {
			fmt.Fprintf(w, "%s\trelation unknown: %d of %d spends; nothing is known that they protect together\n", what, part.Spends, len(a.spends))
			continue
		}
		fmt.Fprintf(w, "%s\t%s: epsilon %s by %d of %d spends\n", what, part.Protects, Closely(part.Epsilon), part.Spends, len(a.spends))
	}
	if len(a.balance.Subtotals) > 0 {
		fmt.Fprintln(w, "\teach is about its own spends, if none of them was chosen by looking at an earlier release; what the others promise for its data sets is not known")
	}
}

// subtotalReport is a part of the spends of a unit, as -json has it.
type subtotalReport struct {
	Protects string     `json:"protects"`
	Spends   int        `json:"spends"`
	Spent    PotsReport `json:"spent"`
	Epsilon  float64    `json:"epsilon_spent"`
}

func reportSubtotals(parts []mechanism.Subtotal) (out []subtotalReport) {
	for _, part := range parts {
		out = append(out, subtotalReport{part.Protects.String(), part.Spends, ReportPots(part.Spent), part.Epsilon})
	}
	return out
}
