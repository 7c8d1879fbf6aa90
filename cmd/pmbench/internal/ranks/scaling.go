package ranks

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A Scaling is a case with a number of ranks next to the same with the first number, the
// object of ranks -json.
type Scaling struct {
	Suite  string `json:"suite"`
	Case   string `json:"case"` // without rows and ranks
	N      int    `json:"n"`
	Ranks  int    `json:"ranks"`
	Rounds int    `json:"rounds"`
	// Seconds is the median of the rounds.
	Seconds float64 `json:"seconds"`
	// Speedup is the time of the first number of ranks over that of this one, the median
	// of the rounds' own ratios; SpeedupLow and SpeedupHigh are their quartiles. With as
	// many rows for every rank it is the efficiency.
	Speedup     *float64 `json:"speedup"`
	SpeedupLow  *float64 `json:"speedup_low"`
	SpeedupHigh *float64 `json:"speedup_high"`
	// Bytes that all ranks receive in an operation; see RankFigures.
	Exchanged  int64 `json:"exchanged_bytes"`
	Gathered   int64 `json:"gathered_bytes"`
	Allgatherv int64 `json:"allgatherv_bytes,omitempty"`
	// PeakBytes is the memory that building takes on rank 0.
	PeakBytes int64 `json:"peak_bytes,omitempty"`
	// Stolen is the largest share of what counts of a round, and MeasuredRounds are all rounds, those
	// included that are not among Rounds; see Record and RankFigures.
	Stolen         *float64 `json:"stolen"`
	MeasuredRounds int      `json:"measured_rounds"`

	rounds []float64 // seconds of each, in order
	base   *Scaling  // the same case with the first number of ranks
}

// Scalings pairs the records of a recording: the first of a case with the first of the
// same case with other ranks, and so on.
func Scalings(records []*record.Record) (out []*Scaling) {
	type key struct {
		file  int
		name  string
		ranks int
	}
	all, bases := map[key]*Scaling{}, map[key]*Scaling{}
	for _, r := range records {
		if r.Ranks == nil {
			continue
		}
		name := withoutParts(r.Case, "n", "ranks")
		of := key{r.File, name, 0}
		at := key{r.File, name, r.Ranks.Ranks}
		s := all[at]
		if s == nil {
			s = &Scaling{Suite: r.Suite, Case: name, N: r.N, Ranks: r.Ranks.Ranks, Exchanged: r.Ranks.Exchanged, Gathered: r.Ranks.Gathered, Allgatherv: r.Ranks.Allgatherv}
			bases[of] = cmp.Or(bases[of], s)
			s.base = bases[of]
			all[at], out = s, append(out, s)
		}
		s.rounds, s.PeakBytes = append(s.rounds, r.Seconds), max(s.PeakBytes, r.PeakBytes)
		s.MeasuredRounds = max(s.MeasuredRounds, r.Ranks.MeasuredRounds, len(s.rounds))
		if stolen := r.Stolen; stolen != nil && (s.Stolen == nil || *s.Stolen < *stolen) {
			s.Stolen = stolen
		}
	}
	for _, s := range out {
		s.sumUp()
	}
	order := slices.Clone(out) // a case with all its ranks together
	slices.SortStableFunc(out, func(a, b *Scaling) int {
		return cmp.Compare(slices.Index(order, a.base), slices.Index(order, b.base))
	})
	return out
}

// sumUp makes medians of the rounds. A round that only one side has finished has no ratio.
func (s *Scaling) sumUp() {
	var ratios []float64
	for i := range min(len(s.rounds), len(s.base.rounds)) {
		ratios = append(ratios, s.base.rounds[i]/s.rounds[i])
	}
	s.Rounds, s.Seconds = len(s.rounds), figures.Median(slices.Clone(s.rounds))
	s.Speedup, s.SpeedupLow, s.SpeedupHigh = figures.Finite(figures.Median(ratios)), figures.Finite(figures.Quantile(ratios, 0.25)), figures.Finite(figures.Quantile(ratios, 0.75))
}

// showScalings prints a table, or objects where JSON is wanted.
func showScalings(e *cli.Env, m *record.Machine, all []*Scaling) error {
	if e.JSON {
		for _, s := range all {
			if err := e.Object(s); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(e.Stdout, m)
	return writeScalings(e.Stdout, all)
}

func writeScalings(w io.Writer, all []*Scaling) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join(scalingHead(), "\t")+"\t")
	for _, s := range all {
		fmt.Fprintln(t, strings.Join(s.row(), "\t")+"\t")
	}
	return t.Flush()
}

// scalingHead names the columns of a table of scalings.
func scalingHead() []string {
	return []string{"case", "n", "ranks", "median", "speedup", "quartiles", "rounds", "stolen", "exchanged", "gathered", "Allgatherv", "peak"}
}

// row returns a scaling as a line of a table.
func (s *Scaling) row() []string {
	return []string{
		s.Case, fmt.Sprint(s.N), fmt.Sprint(s.Ranks), figures.Duration(s.Seconds), figures.Optional(s.Speedup, "%.2f"),
		figures.Optional(s.SpeedupLow, "%.2f") + " to " + figures.Optional(s.SpeedupHigh, "%.2f"), s.roundWords(), s.stolenWords(),
		figures.Decimal(float64(s.Exchanged)), figures.Decimal(float64(s.Gathered)), figures.Decimal(float64(s.Allgatherv)), figures.Size(s.PeakBytes),
	}
}

// roundWords says the number of rounds, and of how many they were chosen.
func (s *Scaling) roundWords() string {
	if s.MeasuredRounds == s.Rounds {
		return fmt.Sprint(s.Rounds)
	}
	return fmt.Sprintf("%d of %d", s.Rounds, s.MeasuredRounds)
}

// stolenWords says Stolen, where it is known.
func (s *Scaling) stolenWords() string {
	if s.Stolen == nil {
		return ""
	}
	return fmt.Sprintf("%.1f%%", 100**s.Stolen)
}

// ScalingWords says how much faster ranks are than the first number of them, for a page.
func ScalingWords(all []*Scaling) string {
	var text strings.Builder
	for _, s := range all {
		if s != s.base && s.Speedup != nil {
			fmt.Fprintf(&text, " %s: %d ranks are %.2f times as fast as %d (%.2f to %.2f), %s rounds", s.Case, s.Ranks, *s.Speedup, s.base.Ranks, *s.SpeedupLow, *s.SpeedupHigh, s.roundWords())
			if words := s.stolenWords(); words != "" {
				fmt.Fprintf(&text, "; of what counts of them the host took at most %s", words)
			}
			text.WriteString(".")
		}
	}
	return text.String()
}
