package kernel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
)

// The vectors were computed with 12 digits by a plain program for the
// formulas of the package comment.
var vectors = []struct {
	name      string
	points    blas64.General
	sigma     float64
	labels    []int32
	alpha     float64
	x         blas64.General
	degrees   []float64
	lx, ly    []float64 // L_X X and L_Y X where given
	next      []float64
	v, vAfter float64
}{
	{
		name:   "a: three points on a line",
		points: blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{0, 1, 3}},
		sigma:  1, labels: []int32{0, 0, 1}, alpha: 0.5,
		x:       blas64.General{Rows: 3, Cols: 1, Stride: 1, Data: []float64{1, 2, 4}},
		degrees: []float64{.617639656251, .741865942949, .146444279775},
		lx:      []float64{-.639857649327, .335860093239, .303997556088},
		ly:      []float64{-2.819591979138, -.213061319425, 3.032653298563},
		next:    []float64{.376709111495, 1.701839154933, 8.139216277541},
		v:       -3.194596526629, vAfter: -24.376250221788,
	},
	{
		name:   "b: four unit rows",
		points: blas64.General{Rows: 4, Cols: 3, Stride: 3, Data: []float64{1, 0, 0, 0, 1, 0, -1, 0, 0, .6, .8, 0}},
		sigma:  5, labels: []int32{0, 1, 0, 2}, alpha: 0.5,
		x:       blas64.General{Rows: 4, Cols: 2, Stride: 2, Data: []float64{1, 0, 0, 1, 2, -1, .5, .5}},
		degrees: []float64{2.868033105594, 2.913610793142, 2.821910785070, 2.914164234423},
		next: []float64{.946155027126, .053844972874, .285391000147, .714608999853,
			1.631603025530, -.631603025530, .624390471079, .375609528921},
		v: 8.209395298804, vAfter: 3.704918538146,
	},
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			ctx := t.Context()
			op, err := NewDense(ctx, v.points, Sigma(v.sigma), nil)
			if err != nil {
				t.Fatal(err)
			}
			labels, err := NewLabels(v.labels, GaussianTable(Sigma(v.sigma)), false)
			if err != nil {
				t.Fatal(err)
			}
			wantAll(t, "degrees", op.Degrees(), v.degrees)
			n, k := v.x.Rows, v.x.Cols
			wx := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
			if err := op.Apply64(ctx, wx, v.x); err != nil {
				t.Fatal(err)
			}
			if v.lx != nil {
				for i, d := range op.Degrees() {
					wx.Data[i] = d*v.x.Data[i] - wx.Data[i]
				}
				wantAll(t, "L_X X", wx.Data, v.lx)
				if err := labels.LaplacianTo64(wx, v.x); err != nil {
					t.Fatal(err)
				}
				wantAll(t, "L_Y X", wx.Data, v.ly)
			}
			step := &Step{Form: Paper, Labels: labels, Coefficient: v.alpha}
			var st Stats
			if err := st.Gather64(v.x, labels); err != nil {
				t.Fatal(err)
			}
			next := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
			if err := op.Step64(ctx, next, v.x, step, &st); err != nil {
				t.Fatal(err)
			}
			wantAll(t, "X'", next.Data, v.next)
			wantAll(t, "v", []float64{st.Objective}, []float64{v.v})
			if err := op.Step64(ctx, wx, next, step, &st); err != nil {
				t.Fatal(err)
			}
			wantAll(t, "v after the step", []float64{st.Objective}, []float64{v.vAfter})
		})
	}
}

// wantAll compares with values printed to 12 decimals.
func wantAll(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i, w := range want {
		if math.Abs(got[i]-w) > 1e-12 {
			t.Errorf("%s[%d] = %.13f, want %.12f", what, i, got[i], w)
		}
	}
}
