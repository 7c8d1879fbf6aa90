package supervised_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A map that went through JSON, by value or by pointer, places rows bit for bit where it
// did before.
func TestMapThroughJSON(t *testing.T) {
	x, labels := labelledRows(60, 6, 21)
	for _, text := range []string{"raw", "scaled", "root,unit-rows", "classic", "deep", "columns=3", "standardize,unit-images"} {
		_, m, want := mapped(t, text, x, labels)
		for _, v := range []any{m, *m, struct{ Map supervised.Map }{*m}.Map} {
			written, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			var back supervised.Map
			if err := json.Unmarshal(written, &back); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			got, err := back.Apply(single(x))
			if err != nil || !slices.Equal(got.Data, want.Data) || back.Columns() != m.Columns() {
				t.Errorf("%s: another map: %v", text, err)
			}
		}
	}
	// A matrix that is a part of another has gaps between its rows.
	part := mat.NewDense(2, 3, []float64{1, 2, 9, 3, 4, 9}).Slice(0, 2, 0, 2).(*mat.Dense)
	written, err := json.Marshal(supervised.Map{Dim: 2, A: part})
	if err != nil || !strings.Contains(string(written), `"matrix":[1,2,3,4]`) {
		t.Errorf("%s, %v", written, err)
	}
}

func TestMapJSONRefuses(t *testing.T) {
	if _, err := json.Marshal(supervised.Map{Dim: 2, Mean: []float64{1}}); !errors.Is(err, points.ErrShape) {
		t.Errorf("a map that fits nothing: %v", err)
	}
	if _, err := json.Marshal(supervised.Map{Dim: 1, Mean: []float64{math.NaN()}}); !errors.Is(err, points.ErrNonFinite) {
		t.Errorf("NaN: %v", err)
	}
	for text, want := range map[string]error{
		`{}`:                                             points.ErrShape,
		`{"dim":-1}`:                                     points.ErrShape,
		`{"dim":1e18}`:                                   nil,
		`{"dim":1000000000000000000}`:                    points.ErrShape,
		`{"dim":2,"columns":2}`:                          points.ErrShape,
		`{"dim":2,"columns":1,"matrix":[1,2,3]}`:         points.ErrShape,
		`{"dim":2,"matrix":[1,2]}`:                       points.ErrShape,
		`{"dim":4294967296,"columns":4294967296}`:        points.ErrShape,
		`{"dim":2,"mean":[1]}`:                           points.ErrShape,
		`{"dim":2,"mean":[1,1e60]}`:                      points.ErrNonFinite,
		`{"dim":1,"columns":1,"matrix":[1],"scale":[1]}`: points.ErrShape,
		`{"dim":2,"mean":[1,1e600]}`:                     nil,
		`{"dim":2,`:                                      nil,
		`[]`:                                             nil,
		`{"dim":1,"columns":9223372036854775807,"matrix":[` + `1` + `]}`: points.ErrShape,
	} {
		m := supervised.Map{Dim: 7}
		err := json.Unmarshal([]byte(text), &m)
		if err == nil || want != nil && !errors.Is(err, want) || m.Dim != 7 {
			t.Errorf("%s: %v, %+v", text, err, m)
		}
	}
}
