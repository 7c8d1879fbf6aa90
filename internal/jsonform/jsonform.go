// Package jsonform has the forms of numbers and matrices in JSON, which has no
// infinities and would write a gonum matrix as {}.
package jsonform

import (
	"encoding/json"
	"math"
	"strconv"

	"gonum.org/v1/gonum/mat"
)

// A Number is a float64 that JSON shows as null when it is infinite or NaN.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	if v := float64(n); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// A Matrix is a matrix with its rows one after the other.
type Matrix struct {
	Rows    int       `json:"rows"`
	Columns int       `json:"columns"`
	Data    []float64 `json:"data"`
}

// MatrixOf returns the form of m, nil for none.
func MatrixOf(m *mat.Dense) *Matrix {
	if m == nil {
		return nil
	}
	raw := m.RawMatrix()
	out := &Matrix{Rows: raw.Rows, Columns: raw.Cols, Data: make([]float64, 0, raw.Rows*raw.Cols)}
	for i := range raw.Rows {
		out.Data = append(out.Data, raw.Data[i*raw.Stride:][:raw.Cols]...)
	}
	return out
}

// An Exact is a float64 that JSON shows as a number if it is finite, and as "NaN", "+Inf" or
// "-Inf" otherwise. It reads back with the same value.
type Exact float64

// MarshalJSON implements json.Marshaler.
func (x Exact) MarshalJSON() ([]byte, error) {
	if v := float64(x); math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendQuote(nil, strconv.FormatFloat(v, 'g', -1, 64)), nil
	}
	return json.Marshal(float64(x))
}

// UnmarshalJSON implements json.Unmarshaler.
func (x *Exact) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"NaN"`:
		*x = Exact(math.NaN())
	case `"+Inf"`:
		*x = Exact(math.Inf(1))
	case `"-Inf"`:
		*x = Exact(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(x))
	}
	return nil
}
