// Package report writes what a run did, in words and JSON: the graph, the steps, the time of each part.
package report

import (
	"io"
	"math"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/iterate"
)

// Graph is what -json says about the graph of an embedding.
type Graph struct {
	Operator     string          `json:"operator"`
	Sigma        jsonform.Number `json:"sigma"`
	Gamma        jsonform.Number `json:"gamma"`
	Nearest      int             `json:"nearest,omitempty"` // neighbours asked for of each row; sigma is null then
	Radius       jsonform.Number `json:"radius"`
	Neighbours   jsonform.Number `json:"neighbours"`
	MeanDegree   jsonform.Number `json:"mean_degree"`
	Isolated     int             `json:"isolated"`
	EtaMax       jsonform.Number `json:"eta_max"`
	EtaP99       jsonform.Number `json:"eta_p99"`
	NNZ          int64           `json:"nnz"`
	Bytes        int64           `json:"bytes"`
	PeakBytes    int64           `json:"peak_bytes"`
	BuildSeconds float64         `json:"build_seconds"`
	StepsSeconds float64         `json:"steps_seconds"` // all steps together
}

func GraphOf(g *iterate.Graph) Graph {
	sigma, gamma := g.Bandwidth.Sigma(), g.Bandwidth.Gamma()
	if g.Neighbours > 0 {
		sigma, gamma = math.NaN(), math.NaN() // every row has its own
	}
	return Graph{
		Operator: g.Operator, Sigma: jsonform.Number(sigma), Gamma: jsonform.Number(gamma), Nearest: g.Neighbours,
		Radius: jsonform.Number(g.Radius), Neighbours: jsonform.Number(g.MeanNeighbours), MeanDegree: jsonform.Number(g.MeanDegree),
		Isolated: g.Certificate.Isolated, EtaMax: jsonform.Number(g.Certificate.RowMax), EtaP99: jsonform.Number(g.Certificate.RowP99),
		NNZ: g.Cost.NNZ, Bytes: g.Cost.ResidentBytes, PeakBytes: g.Cost.PeakBytes,
		BuildSeconds: g.BuildTime.Seconds(), StepsSeconds: g.StepTime.Seconds(),
	}
}

// Step is what -json says about a step.
type Step struct {
	Step      int             `json:"step"`
	Objective jsonform.Number `json:"objective"`
	Scale     jsonform.Number `json:"scale"`
	Change    jsonform.Number `json:"change"`
}

func TraceOf(trace []iterate.Record) []Step {
	out := make([]Step, len(trace))
	for i, r := range trace {
		out[i] = Step{r.Step, jsonform.Number(r.Objective), jsonform.Number(r.Scale), jsonform.Number(r.Change)}
	}
	return out
}

// Facts aligns lines of a name and a text about it.
func Facts(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 14, 0, 2, ' ', 0) }
