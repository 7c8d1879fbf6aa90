package supervised

import (
	"encoding/json"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// mapJSON is a Map as JSON. Matrix has the rows of A one after the other.
type mapJSON struct {
	Dim        int       `json:"dim"`
	Root       bool      `json:"root,omitempty"`
	UnitRows   bool      `json:"unit_rows,omitempty"`
	Mean       []float64 `json:"mean,omitempty"`
	Scale      []float64 `json:"scale,omitempty"`
	Columns    int       `json:"columns,omitempty"` // of Matrix
	Matrix     []float64 `json:"matrix,omitempty"`
	UnitImages bool      `json:"unit_images,omitempty"`
	Names      []string  `json:"column_names,omitempty"`
}

// MarshalJSON implements json.Marshaler. Numbers come back bit for bit. Errors: those of
// Check.
func (m Map) MarshalJSON() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	out := mapJSON{Dim: m.Dim, Root: m.Root, UnitRows: m.UnitRows, Mean: m.Mean, Scale: m.Scale, UnitImages: m.UnitImages, Names: m.ColumnNames}
	if m.A != nil {
		out.Columns = m.Columns()
		for i := range m.Dim {
			out.Matrix = append(out.Matrix, m.A.RawRowView(i)...)
		}
	}
	return json.Marshal(out)
}

// mostColumns is more columns than rows in a file have.
const mostColumns = 1 << 24

// UnmarshalJSON implements json.Unmarshaler. On an error, those of Check among them, m is
// left as it was.
func (m *Map) UnmarshalJSON(text []byte) error {
	var in mapJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return fmt.Errorf("supervised: map: %w", err)
	}
	if in.Dim < 1 || in.Dim > mostColumns || in.Columns < 0 || in.Columns > mostColumns || int64(in.Dim)*int64(in.Columns) != int64(len(in.Matrix)) {
		return fmt.Errorf("supervised: map: %w: a matrix of %d x %d in %d numbers", points.ErrShape, in.Dim, in.Columns, len(in.Matrix))
	}
	out := Map{Dim: in.Dim, Root: in.Root, UnitRows: in.UnitRows, Mean: in.Mean, Scale: in.Scale, UnitImages: in.UnitImages, ColumnNames: in.Names}
	if len(in.Matrix) > 0 {
		out.A = mat.NewDense(in.Dim, in.Columns, in.Matrix)
	}
	if err := out.Check(); err != nil {
		return err
	}
	*m = out
	return nil
}
