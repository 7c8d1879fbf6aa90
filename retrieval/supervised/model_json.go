package supervised

import (
	"encoding/json"

	"github.com/seed-64e14a55/privatemail/iterate"
)

// MarshalJSON implements json.Marshaler: rows, input and output columns, recipe, graph, trace,
// held_out and seconds, by the names of privatemail fit -json. It is for reports: the rows and the
// map are left out, and nothing reads it back. Write and Save keep models.
func (m Model) MarshalJSON() ([]byte, error) {
	out := struct {
		Rows    int            `json:"rows"`
		Input   int            `json:"input"`
		Output  int            `json:"output"`
		Recipe  string         `json:"recipe"`
		Graph   *iterate.Graph `json:"graph,omitempty"`
		Trace   []recordFacts  `json:"trace,omitempty"`
		Held    *heldFacts     `json:"held_out,omitempty"`
		Seconds secondsFacts   `json:"seconds"`
	}{
		Rows: m.X.Rows, Output: m.X.Cols, Recipe: m.Recipe.String(), Graph: m.Graph, Trace: factsOfTrace(m.Trace), Held: factsOfHeld(m.Held),
		Seconds: secondsFacts{m.ChoiceTime.Seconds(), m.MapTime.Seconds(), m.StepsTime.Seconds()},
	}
	if m.Map != nil {
		out.Input = m.Map.Dim
	}
	return json.Marshal(out)
}

type secondsFacts struct {
	Choice float64 `json:"choice"`
	Map    float64 `json:"map"`
	Steps  float64 `json:"steps"`
}
