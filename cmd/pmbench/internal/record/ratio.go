package record

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
)

// A Ratio compares a peer with us, the object of peers -json.
type Ratio struct {
	Suite   string `json:"suite"`
	Case    string `json:"case"`
	N       int    `json:"n"`
	D       int    `json:"d"`
	K       int    `json:"k"`
	NNZ     int64  `json:"nnz"`
	Workers int    `json:"workers"`
	Level   string `json:"level"`
	Peer    string `json:"peer"`
	Version string `json:"version,omitempty"`
	Rounds  int    `json:"rounds,omitempty"`
	// WantedRounds is how many rounds there should have been, where the run ended before.
	WantedRounds int `json:"wanted_rounds,omitempty"`
	// PeerN is how many rows the peer was measured with, where these are fewer: its
	// seconds are then multiplied by (N/PeerN)^2.
	PeerN int `json:"peer_n,omitempty"`
	// Seconds are ours, PeerSeconds theirs; medians of the rounds.
	Seconds     float64 `json:"seconds,omitempty"`
	PeerSeconds float64 `json:"peer_seconds,omitempty"`
	// Ratio is theirs over ours, the median of the rounds' own ratios, in which
	// a slow minute of the machine cancels; null where the results differ or the
	// peer is missing. RatioLow and RatioHigh are their quartiles.
	Ratio     *float64 `json:"ratio"`
	RatioLow  *float64 `json:"ratio_low,omitempty"`
	RatioHigh *float64 `json:"ratio_high,omitempty"`
	// Difference between the results: of products the largest, relative to
	// sum_j |a_ij x_j|; of neighbours the number of rows that differ; of nearest
	// neighbours the largest of two squared distances, relative to ours; of
	// eigenvectors how far a Rayleigh quotient is from the eigenvalue.
	Difference *float64 `json:"difference"`
	// Recall is the share of neighbours an approximate peer finds.
	Recall *float64 `json:"recall,omitempty"`
	// Residual and PeerResidual are the largest |M u - lambda u| of eigenvectors, each
	// of its own graph.
	Residual     *float64 `json:"residual,omitempty"`
	PeerResidual *float64 `json:"peer_residual,omitempty"`
	// PeerPeakBytes is the largest memory of a peer's process, rows included, where it reports it.
	PeerPeakBytes int64    `json:"peer_peak_bytes,omitempty"`
	Missing       string   `json:"missing,omitempty"`
	Command       string   `json:"command,omitempty"`
	Commit        string   `json:"commit"`
	Time          string   `json:"time"`
	Machine       *Machine `json:"machine,omitempty"`

	// File is the number of the recording that a report has read it from.
	File int `json:"-"`
}

// WriteRatios prints a table of ratios.
func WriteRatios(w io.Writer, all []*Ratio) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "suite\t"+strings.Join(RatioHead(), "\t")+"\t")
	for _, r := range all {
		fmt.Fprintln(t, r.Suite+"\t"+strings.Join(r.Row(), "\t")+"\t")
	}
	return t.Flush()
}

// RatioHead names the columns of a table of ratios.
func RatioHead() []string {
	return []string{"case", "peer", "ours", "theirs", "ratio", "quartiles", "rounds", "result"}
}

// Row returns a ratio as a line of a table.
func (r *Ratio) Row() []string {
	out := []string{r.Case, strings.TrimSpace(r.Peer + " " + r.Version), "", "", "", "", "", r.Result()}
	if r.Ratio != nil {
		copy(out[2:], []string{
			figures.Duration(r.Seconds), figures.Duration(r.PeerSeconds), fmt.Sprintf("%.2f", *r.Ratio),
			figures.Optional(r.RatioLow, "%.2f") + " to " + figures.Optional(r.RatioHigh, "%.2f"), fmt.Sprint(r.Rounds),
		})
		if r.Extrapolated() {
			out[3] += " *"
		}
	}
	return out
}

// Extrapolated reports whether the seconds of the peer follow from those with fewer rows.
func (r *Ratio) Extrapolated() bool { return r.PeerN > 0 && r.PeerN < r.N }

// Result says how theirs compares with ours.
func (r *Ratio) Result() string {
	switch {
	case r.Missing != "":
		return "missing"
	case r.Ratio == nil:
		return "differs: " + figures.Optional(r.Difference, "%.2g")
	}
	out := "same (" + figures.Optional(r.Difference, "%.1g") + ")"
	if r.Recall != nil {
		out = fmt.Sprintf("recall %.4f", *r.Recall)
	}
	if r.PeerResidual != nil {
		out += fmt.Sprintf(", residuals %s and %s", figures.Optional(r.Residual, "%.1e"), figures.Optional(r.PeerResidual, "%.1e"))
	}
	if r.PeerPeakBytes > 0 {
		out += fmt.Sprintf(", peak %.0f MiB with rows of %.1f MiB", float64(r.PeerPeakBytes)/(1<<20), float64(r.N)*float64(r.D)*4/(1<<20))
	}
	if r.WantedRounds > 0 {
		out += fmt.Sprintf(", ended after %d of %d rounds", r.Rounds, r.WantedRounds)
	}
	if r.Extrapolated() {
		out += fmt.Sprintf(", * from n = %d times (n/%d)^2", r.PeerN, r.PeerN)
	}
	return out
}
