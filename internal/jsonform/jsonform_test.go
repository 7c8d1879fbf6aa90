package jsonform

import (
	"encoding/json"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func TestForms(t *testing.T) {
	m := mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	for want, v := range map[string]any{
		`[1.5,null,null,null]`:                    []Number{1.5, Number(math.NaN()), Number(math.Inf(1)), Number(math.Inf(-1))},
		`{"rows":2,"columns":2,"data":[2,3,5,6]}`: MatrixOf(m.Slice(0, 2, 1, 3).(*mat.Dense)),
		`{"rows":0,"columns":0,"data":[]}`:        MatrixOf(new(mat.Dense)),
		`null`:                                    MatrixOf(nil),
	} {
		if got, err := json.Marshal(v); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}
