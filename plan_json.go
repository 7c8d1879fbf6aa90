package privatemail

import (
	"encoding/json"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// candidateJSON is a kernel.Candidate as JSON, with the names that the command
// uses.
type candidateJSON struct {
	Operator     string          `json:"operator"`
	Feasible     bool            `json:"feasible"`
	Seconds      jsonform.Number `json:"seconds"`
	BuildSeconds jsonform.Number `json:"build_seconds"`
	StepSeconds  jsonform.Number `json:"seconds_per_step"`
	Bytes        int64           `json:"bytes"`
	PeakBytes    int64           `json:"peak_bytes"`
	NNZ          int64           `json:"nnz"`
	Eta          jsonform.Number `json:"eta"`
	Radius       jsonform.Number `json:"radius"`
	Neighbours   jsonform.Number `json:"neighbours"`
	Degree       degreesJSON     `json:"degree"`
	Reason       string          `json:"reason"`
}

// degreesJSON is a kernel.Degrees as JSON.
type degreesJSON struct {
	Mean     jsonform.Number `json:"mean"`
	P1       jsonform.Number `json:"p1"`
	P10      jsonform.Number `json:"p10"`
	P50      jsonform.Number `json:"p50"`
	P90      jsonform.Number `json:"p90"`
	P99      jsonform.Number `json:"p99"`
	Isolated jsonform.Number `json:"isolated"`
}

func degreesOf(d kernel.Degrees) degreesJSON {
	n := func(i int) jsonform.Number { return jsonform.Number(d.Quantiles[i]) }
	return degreesJSON{jsonform.Number(d.Mean), n(0), n(1), n(2), n(3), n(4), jsonform.Number(d.Isolated)}
}

// MarshalJSON implements json.Marshaler: an object with sigma, gamma and candidates, the best
// first, with the names of privatemail plan -json. Where Neighbours is set it is called nearest,
// and sigma and gamma are null: every row has its own. Where a candidate cannot be used, its
// seconds and eta are null; a null radius means no cutoff.
func (p Plan) MarshalJSON() ([]byte, error) {
	candidates := make([]candidateJSON, len(p.Candidates))
	for i, c := range p.Candidates {
		candidates[i] = candidateJSON{
			Operator: c.Name, Feasible: c.Feasible, Seconds: jsonform.Number(c.Seconds),
			BuildSeconds: jsonform.Number(c.Cost.BuildSeconds), StepSeconds: jsonform.Number(c.Cost.StepSeconds),
			Bytes: c.Cost.ResidentBytes, PeakBytes: c.Cost.PeakBytes, NNZ: c.Cost.NNZ, Eta: jsonform.Number(c.Eta),
			Radius: jsonform.Number(c.Radius), Neighbours: jsonform.Number(c.MeanNeighbours), Degree: degreesOf(c.Degrees), Reason: c.Reason,
		}
	}
	sigma, gamma := p.Bandwidth.Sigma(), p.Bandwidth.Gamma()
	if p.Neighbours > 0 {
		sigma, gamma = math.NaN(), math.NaN()
	}
	return json.Marshal(struct {
		Sigma      jsonform.Number `json:"sigma"`
		Gamma      jsonform.Number `json:"gamma"`
		Nearest    int             `json:"nearest,omitempty"`
		Candidates []candidateJSON `json:"candidates"`
	}{jsonform.Number(sigma), jsonform.Number(gamma), p.Neighbours, candidates})
}
