package main

import (
	"io"
	"math"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/iterate"
)

// jsonNumber is a float64 that JSON shows as null when it is infinite or NaN.
type jsonNumber = jsonform.Number

// graphReport is what -json says about the graph of an embedding.
type graphReport struct {
	Operator     string     `json:"operator"`
	Sigma        jsonNumber `json:"sigma"`
	Gamma        jsonNumber `json:"gamma"`
	Nearest      int        `json:"nearest,omitempty"` // neighbours asked for of each row; sigma is null then
	Radius       jsonNumber `json:"radius"`
	Neighbours   jsonNumber `json:"neighbours"`
	MeanDegree   jsonNumber `json:"mean_degree"`
	Isolated     int        `json:"isolated"`
	EtaMax       jsonNumber `json:"eta_max"`
	EtaP99       jsonNumber `json:"eta_p99"`
	NNZ          int64      `json:"nnz"`
	Bytes        int64      `json:"bytes"`
	PeakBytes    int64      `json:"peak_bytes"`
	BuildSeconds float64    `json:"build_seconds"`
	StepsSeconds float64    `json:"steps_seconds"` // all steps together
}

func reportGraph(g *iterate.Graph) graphReport {
	sigma, gamma := g.Bandwidth.Sigma(), g.Bandwidth.Gamma()
	if g.Neighbours > 0 {
		sigma, gamma = math.NaN(), math.NaN() // every row has its own
	}
	return graphReport{
		Operator: g.Operator, Sigma: jsonNumber(sigma), Gamma: jsonNumber(gamma), Nearest: g.Neighbours,
		Radius: jsonNumber(g.Radius), Neighbours: jsonNumber(g.MeanNeighbours), MeanDegree: jsonNumber(g.MeanDegree),
		Isolated: g.Certificate.Isolated, EtaMax: jsonNumber(g.Certificate.RowMax), EtaP99: jsonNumber(g.Certificate.RowP99),
		NNZ: g.Cost.NNZ, Bytes: g.Cost.ResidentBytes, PeakBytes: g.Cost.PeakBytes,
		BuildSeconds: g.BuildTime.Seconds(), StepsSeconds: g.StepTime.Seconds(),
	}
}

// stepReport is what -json says about a step.
type stepReport struct {
	Step      int        `json:"step"`
	Objective jsonNumber `json:"objective"`
	Scale     jsonNumber `json:"scale"`
	Change    jsonNumber `json:"change"`
}

func reportTrace(trace []iterate.Record) []stepReport {
	out := make([]stepReport, len(trace))
	for i, r := range trace {
		out[i] = stepReport{r.Step, jsonNumber(r.Objective), jsonNumber(r.Scale), jsonNumber(r.Change)}
	}
	return out
}

// facts aligns lines of a name and what there is to say about it.
func facts(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 14, 0, 2, ' ', 0) }
