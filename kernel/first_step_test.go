package kernel

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
)

// An explicit example: four unit rows, of which
// the last is replaced by others. Its numbers come from 50-digit arithmetic.
var firstStepQ = blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 0, .5, -1, -.25, .75, 2, 1}}

// firstStepRows has (a, b) as its last row, and d columns, all but two of them
// zero, so that both forms of the distance can be tried.
func firstStepRows(t *testing.T, a, b float64, d int) *UnitRows {
	t.Helper()
	p := pointtest.Zeros64(4, d)
	for i, row := range [][2]float64{{1, 0}, {0, 1}, {.6, .8}, {a, b}} {
		copy(p.Data[i*d:], row[:])
	}
	r, err := NewUnitRows(p, UnitOptions{Nulls: 1})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fullStep(t *testing.T, r *UnitRows, label int32, table Table, alpha float64) blas64.General {
	t.Helper()
	op, err := r.Dense(t.Context(), Sigma(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	return firstStep64(t, op, firstStepQ, []int32{0, 1, 2, label}, table, alpha)
}

func frobenius(a, b blas64.General) float64 {
	sum := 0.0
	for i, v := range a.Data {
		sum += (v - b.Data[i]) * (v - b.Data[i])
	}
	return math.Sqrt(sum)
}

func wantNear(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if math.Abs(got[i]-w) > 1e-11 {
			t.Errorf("%s[%d] = %.13f, want %.12f", what, i, got[i], w)
		}
	}
}

func TestFirstStepVectors(t *testing.T) {
	for _, d := range []int{2, 12} {
		t.Run(fmt.Sprintf("d=%d", d), func(t *testing.T) {
			given, null, turned := firstStepRows(t, -1, 0, d), firstStepRows(t, 0, 0, d), firstStepRows(t, 0, -1, d)
			gaussian := GaussianTable(Sigma(1))
			f := fullStep(t, given, 2, gaussian, .6)
			wantNear(t, "f", f.Data, []float64{
				.708468371910, .209628311582, .392830685500, -.740170425453, -.196250534625, .354574714058, 2.592571145479, 1.026570039070,
			})
			wantNear(t, "f, null record", fullStep(t, null, 0, gaussian, .6).Data, []float64{
				.777517163090, .135100816469, .506912354517, -.641660275749, .289110327953, .486009209960, 1.573409746437, .828783714407,
			})
			wantNear(t, "distances", []float64{
				frobenius(f, fullStep(t, null, 0, gaussian, .6)), frobenius(f, fullStep(t, null, 2, gaussian, .6)),
				frobenius(f, fullStep(t, turned, 0, gaussian, .6)), frobenius(f, fullStep(t, turned, 2, gaussian, .6)),
			}, []float64{1.16777589505, .966441006507, .697603901594, .354668376489})

			op, err := given.Background(t.Context(), Sigma(1), 1.2, (math.Exp(-2)+math.Exp(-.72))/2, nil)
			if err != nil {
				t.Fatal(err)
			}
			v2 := firstStep64(t, op, firstStepQ, []int32{0, 1, 2, 2}, gaussian, .6)
			wantNear(t, "background", v2.Data, []float64{
				.814254153321, .280312647200, .344928911997, -.778841735312, -.131296140748, .386130272646, 2.267711978680, .972214902068,
			})
			wantNear(t, "background, distance", []float64{frobenius(f, v2)}, []float64{.365622404531})

			f = fullStep(t, given, 2, EqualTable(), -.6)
			wantNear(t, "f, equal labels attract", f.Data, []float64{
				.622293042686, .115120524503, .539148159872, -.184164022839, .712837592542, .236960739297, .233313085470, .240142384181,
			})
			wantNear(t, "distances, equal labels attract", []float64{
				frobenius(f, fullStep(t, turned, 0, EqualTable(), -.6)), frobenius(f, fullStep(t, null, 0, EqualTable(), -.6)),
			}, []float64{.899651898087, 1.01725953663})
		})
	}
}
