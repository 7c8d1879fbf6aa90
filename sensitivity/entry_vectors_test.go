package sensitivity

import (
	"math"
	"testing"
)

// EntryError at the entry errors of polynomials, for the Q of the examples. The values come from 60-digit decimal
// arithmetic: 1/2 e0 (N/(n l)) (1 + max(1+e0, alpha U)/(l-e0)) F with N = 4, n = 3, U = 1,
// l = exp(-2/sigma^2), F = 2.25693376065847355652, and for alpha < 0 1+e0+|alpha| U in
// place of the maximum.
func TestEntryErrorVectors(t *testing.T) {
	for _, c := range []struct{ sigma, alpha, entry, want float64 }{
		{6, 0.6, 8.9e-7, 2.91210280096830137151e-6},
		{6, -0.6, 8.9e-7, 3.80999492487907712028e-6},
		{5, 0.5, 2.7e-6, 9.16822504168364415683e-6},
		{2, 3, 6.5e-4, 9.59648991335966208405e-3},
		{1, 0.6, 5.2e-4, 4.86860866567197631866e-2},
	} {
		query := Query{Operator: Full{}, Sigma: c.sigma, Alpha: c.alpha, Table: Equal{Classes: 4}}
		eta, err := query.EntryError(exampleQ, c.entry)
		if err != nil {
			t.Fatal(err)
		}
		if v := eta.Value(); v < c.want || math.Abs(v/roundUp/c.want-1) > 1e-9 {
			t.Errorf("sigma %g, alpha %g: E = %.15g, want %.15g", c.sigma, c.alpha, v, c.want)
		}
		bound, err := query.Tight(ReplaceOne, exampleQ, Rows{})
		if err != nil {
			t.Fatal(err)
		}
		both, err := bound.Inflate(eta)
		if err != nil {
			t.Fatal(err)
		}
		if total := bound.Exact() + 2*c.want; both.Value() < total || both.Value() > total*(1+1e-8) {
			t.Errorf("sigma %g, alpha %g: Delta + 2 E = %.15g, want %.15g", c.sigma, c.alpha, both.Value(), total)
		}
	}
}
