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

// Every number reads back, including those that JSON does not have.
func TestExact(t *testing.T) {
	for _, v := range []float64{0, -1.5, 0.1, math.MaxFloat64, 5e-324, math.Inf(1), math.Inf(-1), math.NaN()} {
		text, err := json.Marshal(map[string]Exact{"v": Exact(v)})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]Exact
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		if got := float64(back["v"]); math.Float64bits(got) != math.Float64bits(v) {
			t.Errorf("%s: %v, want %v", text, got, v)
		}
	}
	if err := json.Unmarshal([]byte(`"Infinity"`), new(Exact)); err == nil {
		t.Error("another word is accepted as a number")
	}
}
