package privatemail

import (
	"encoding/json"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/iterate"
)

// eigenmapJSON is an Eigenmap or a SpectralMap as JSON.
type eigenmapJSON struct {
	Points       *jsonform.Matrix `json:"points,omitempty"`
	Graph        iterate.Graph    `json:"graph"`
	Values       []float64        `json:"values"`
	Residuals    []float64        `json:"residuals"`
	Coefficients *jsonform.Matrix `json:"coefficients,omitempty"`
	Products     int              `json:"products"`
	Isolated     int              `json:"isolated"`
	Components   []int            `json:"components,omitempty"`
	Status       string           `json:"status"`
}

// MarshalJSON implements json.Marshaler, like iterate.Embedding: for reports.
func (m Eigenmap) MarshalJSON() ([]byte, error) {
	return json.Marshal(eigenmapJSON{
		Points: jsonform.MatrixOf(m.Points), Graph: m.Graph, Values: m.Values, Residuals: m.Residuals,
		Products: m.Products, Isolated: m.Isolated, Status: m.Status.String(),
	})
}

// MarshalJSON implements json.Marshaler, like iterate.Embedding: for reports.
func (m SpectralMap) MarshalJSON() ([]byte, error) {
	return json.Marshal(eigenmapJSON{
		Points: jsonform.MatrixOf(m.Points), Graph: m.Graph, Values: m.Values, Residuals: m.Residuals, Coefficients: jsonform.MatrixOf(m.Coefficients),
		Products: m.Products, Isolated: m.Isolated, Components: m.Components, Status: m.Status.String(),
	})
}

// weightsJSON is a sparse matrix as JSON: the arrays of sparse.CSR.Arrays.
type weightsJSON struct {
	Rows    int       `json:"rows"`
	Columns int       `json:"columns"`
	Ptr     []uint64  `json:"ptr"`
	Ind     []uint32  `json:"ind"`
	Val     []float32 `json:"val"`
}

// MarshalJSON implements json.Marshaler: an object with weights, as the arrays of
// sparse.CSR.Arrays, and graph. formats.WriteCSR makes a file of the weights.
func (g NeighbourGraph) MarshalJSON() ([]byte, error) {
	var weights *weightsJSON
	if g.Weights != nil {
		ptr, ind, val := g.Weights.Arrays()
		weights = &weightsJSON{g.Weights.Rows(), g.Weights.Cols(), ptr, ind, val}
	}
	return json.Marshal(struct {
		Weights *weightsJSON  `json:"weights,omitempty"`
		Graph   iterate.Graph `json:"graph"`
	}{weights, g.Graph})
}
