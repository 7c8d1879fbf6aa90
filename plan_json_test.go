package privatemail

import (
	"encoding/json"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// A plan as JSON has the values of the plan, and null for numbers that JSON lacks.
func TestPlanAsJSON(t *testing.T) {
	e := engine(t)
	x, _ := classes(t, 300, 3)
	for name, s := range map[string]*Settings{
		"sigma":      {Graph: Graph{Bandwidth: kernel.Sigma(0.7)}},
		"cutoff":     {Graph: Graph{MeanNeighbours: 9}},
		"neighbours": {Graph: Graph{Neighbours: 6}},
		"one":        {Graph: Graph{Bandwidth: kernel.Sigma(0.7), Operator: "dense"}},
	} {
		plan, err := e.Plan(t.Context(), x, s)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(plan)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got struct {
			Sigma, Gamma *float64
			Candidates   []struct {
				Operator    string
				Feasible    bool
				Seconds     *float64
				StepSeconds *float64 `json:"seconds_per_step"`
				PeakBytes   int64    `json:"peak_bytes"`
				Radius      *float64
				Degree      struct{ P50, P99 *float64 }
				Reason      string
			}
		}
		if err := json.Unmarshal(text, &got); err != nil || len(got.Candidates) != len(plan.Candidates) {
			t.Fatalf("%s: %v, %s", name, err, text)
		}
		if own := s.Neighbours > 0; own != (got.Sigma == nil) || own != (got.Gamma == nil) {
			t.Errorf("%s: sigma %v, gamma %v", name, got.Sigma, got.Gamma)
		}
		if got.Gamma != nil && *got.Gamma != plan.Bandwidth.Gamma() {
			t.Errorf("%s: gamma is %g, want %g", name, *got.Gamma, plan.Bandwidth.Gamma())
		}
		for i, c := range plan.Candidates {
			g := got.Candidates[i]
			if g.Operator != c.Name || g.Feasible != c.Feasible || g.Reason != c.Reason || g.PeakBytes != c.Cost.PeakBytes {
				t.Errorf("%s: %+v, want %+v", name, g, c)
			}
			if known := c.Seconds == c.Seconds; known != (g.Seconds != nil) || known && *g.Seconds != c.Seconds {
				t.Errorf("%s: seconds of %s: %v, want %g", name, c.Name, g.Seconds, c.Seconds)
			}
			if q := c.Degrees.Quantiles; s.Neighbours == 0 && (*g.Degree.P50 != q[2] || *g.Degree.P99 != q[4]) {
				t.Errorf("%s: degrees of %s: %+v, want %v", name, c.Name, g.Degree, q)
			}
		}
	}
}
