package privatemail

import (
	"encoding/json"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

func TestAssessmentJSON(t *testing.T) {
	s := &PrivateSettings{Relation: sensitivity.ReplaceOne, Bandwidth: kernel.Sigma(6), Alpha: 0.6, Classes: 3, Epsilon: 1, Delta: 1e-6}
	for _, priced := range []bool{true, false} {
		if !priced {
			s.Epsilon, s.Delta = 0, 0
		}
		a, err := Sensitivity(t.Context(), 100, 8, s)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var got map[string]any
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if tight := got["tight"].(map[string]any); got["operator"] != "dense" || got["relation"] != "replace-one" || tight["delta"] != a.Tight.Exact() || got["signal_rms"] != a.Signal {
			t.Errorf("%s", text)
		}
		if got["paper"].(map[string]any)["delta"] != a.Paper.Delta || got["corrected"].(map[string]any)["M"] != a.Corrected.M {
			t.Errorf("%s", text)
		}
		if !priced {
			if got["sigma"] != nil || got["epsilon"] != nil {
				t.Errorf("no price, and %s", text)
			}
			continue
		}
		for key, want := range map[string]float64{
			"epsilon": 1, "delta": 1e-6, "sigma": a.Calibration.Sigma(), "mu": a.Calibration.Mu(), "rho": a.Calibration.Rho(), "sensitivity_total": a.Calibration.L2Sensitivity(),
		} {
			if got[key] != want {
				t.Errorf("%s is %v, want %v", key, got[key], want)
			}
		}
	}
}
