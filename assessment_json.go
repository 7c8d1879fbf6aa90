package privatemail

import (
	"encoding/json"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
)

// assessmentJSON is an Assessment as JSON, with the names that the command
// uses.
type assessmentJSON struct {
	Relation  string           `json:"relation"`
	Operator  string           `json:"operator"`
	Computed  string           `json:"computed"`
	Tight     tightJSON        `json:"tight"`
	Corrected *correctedJSON   `json:"corrected"`
	Paper     *paperJSON       `json:"paper"`
	Epsilon   *jsonform.Number `json:"epsilon"`
	Delta     *jsonform.Number `json:"delta"`
	Total     *jsonform.Number `json:"sensitivity_total"`
	Sigma     *jsonform.Number `json:"sigma"`
	Mu        *jsonform.Number `json:"mu"`
	Rho       *jsonform.Number `json:"rho"`
	Signal    jsonform.Number  `json:"signal_rms"`
}

type tightJSON struct {
	Delta         jsonform.Number `json:"delta"`
	OperatorError jsonform.Number `json:"operator_error"`
	Derivation    string          `json:"derivation"`
	Assumptions   []string        `json:"assumptions"`
}

type correctedJSON struct {
	M        jsonform.Number `json:"M"`
	Delta    jsonform.Number `json:"delta"`
	Spectral jsonform.Number `json:"delta_spectral"`
	Relation string          `json:"relation"`
}

type paperJSON struct {
	MII    jsonform.Number `json:"M_ii"`
	MIJ    jsonform.Number `json:"M_ij"`
	M      jsonform.Number `json:"M"`
	Delta  jsonform.Number `json:"delta"`
	Proved bool            `json:"proved"`
}

// MarshalJSON implements json.Marshaler, with the names of privatemail sensitivity -json. sigma
// is the standard deviation of the noise of an entry. Without a Calibration epsilon, delta and
// the numbers that follow from them are null, as is paper where it is undefined.
func (a Assessment) MarshalJSON() ([]byte, error) {
	out := assessmentJSON{
		Relation: a.Tight.Relation().String(), Operator: a.Operator, Computed: a.Computed, Signal: jsonform.Number(a.Signal),
		Tight: tightJSON{Delta: jsonform.Number(a.Tight.Exact()), OperatorError: jsonform.Number(a.Tight.Eta()), Derivation: a.Tight.Derivation()},
	}
	out.Tight.Assumptions = a.Tight.Assumptions()
	if c := a.Corrected; c != nil {
		out.Corrected = &correctedJSON{jsonform.Number(c.M), jsonform.Number(c.Frobenius), jsonform.Number(c.Value()), c.Relation().String()}
	}
	if p := a.Paper; p != nil {
		out.Paper = &paperJSON{jsonform.Number(p.MII), jsonform.Number(p.MIJ), jsonform.Number(p.M), jsonform.Number(p.Delta), p.Proved()}
	}
	if c := a.Calibration; c != nil {
		for _, v := range []struct {
			to    **jsonform.Number
			value float64
		}{
			{&out.Epsilon, c.Epsilon()}, {&out.Delta, c.Delta()}, {&out.Total, c.L2Sensitivity()},
			{&out.Sigma, c.Sigma()}, {&out.Mu, c.Mu()}, {&out.Rho, c.Rho()},
		} {
			number := jsonform.Number(v.value)
			*v.to = &number
		}
	}
	return json.Marshal(out)
}
