package iterate

import (
	"encoding/json"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
)

// MarshalJSON implements json.Marshaler: an object with points (rows, columns and data, the
// rows one after the other; absent where Points is nil), graph, status and trace. Infinite
// numbers become null. It is for reports, and nothing reads it back: package formats has
// files of points.
func (e Embedding) MarshalJSON() ([]byte, error) {
	trace := make([]stepJSON, len(e.Trace))
	for i, r := range e.Trace {
		trace[i] = stepJSON{r.Step, jsonform.Number(r.Objective), jsonform.Number(r.Scale), jsonform.Number(r.Change)}
	}
	return json.Marshal(struct {
		Points *jsonform.Matrix `json:"points,omitempty"`
		Graph  Graph            `json:"graph"`
		Status string           `json:"status"`
		Trace  []stepJSON       `json:"trace"`
	}{jsonform.MatrixOf(e.Points), e.Graph, e.Status.String(), trace})
}

// stepJSON is a Record as JSON.
type stepJSON struct {
	Step      int             `json:"step"`
	Objective jsonform.Number `json:"objective"`
	Scale     jsonform.Number `json:"scale"`
	Change    jsonform.Number `json:"change"`
}

// graphJSON is a Graph as JSON, with the names that the command uses.
type graphJSON struct {
	Operator     string          `json:"operator"`
	Sigma        jsonform.Number `json:"sigma"`
	Gamma        jsonform.Number `json:"gamma"`
	Nearest      int             `json:"nearest,omitempty"`
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
	StepsSeconds float64         `json:"steps_seconds"`
}

// MarshalJSON implements json.Marshaler, with the names of privatemail embed -json. Where
// Neighbours is set it is called nearest, and sigma is null: every row has its own. A null
// radius means no cutoff, a null eta no bound. Bounds of single rows are left out.
func (g Graph) MarshalJSON() ([]byte, error) {
	sigma, gamma := g.Bandwidth.Sigma(), g.Bandwidth.Gamma()
	if g.Neighbours > 0 {
		sigma, gamma = math.NaN(), math.NaN()
	}
	return json.Marshal(graphJSON{
		Operator: g.Operator, Sigma: jsonform.Number(sigma), Gamma: jsonform.Number(gamma), Nearest: g.Neighbours,
		Radius: jsonform.Number(g.Radius), Neighbours: jsonform.Number(g.MeanNeighbours), MeanDegree: jsonform.Number(g.MeanDegree),
		Isolated: g.Certificate.Isolated, EtaMax: jsonform.Number(g.Certificate.RowMax), EtaP99: jsonform.Number(g.Certificate.RowP99),
		NNZ: g.Cost.NNZ, Bytes: g.Cost.ResidentBytes, PeakBytes: g.Cost.PeakBytes,
		BuildSeconds: g.BuildTime.Seconds(), StepsSeconds: g.StepTime.Seconds(),
	})
}
