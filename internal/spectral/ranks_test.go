package spectral

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

func TestRanksConverge(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	p := random(rng, 4000, 2)
	for i := range 60 { // equal points
		copy(row(p, 2*i), row(p, 0))
	}
	converge := func(ranks *par.Ranks) (*Eigenvectors, error) {
		op, err := kernel.Build(t.Context(), p, kernel.Sigma(0.1), &kernel.Options{Operator: "csr", CutoffRadius: 0.25, Ranks: ranks})
		if err != nil {
			return nil, err
		}
		return Converge(t.Context(), op, kernel.Step{Form: kernel.Attract}, &ConvergeSettings{Dim: 2, MaxProducts: 60})
	}
	want, err := converge(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster.Local(3, func(ranks *par.Ranks) error {
		got, err := converge(ranks)
		if err == nil && (!slices.Equal(got.Points.Data, want.Points.Data) || !slices.Equal(got.Values, want.Values) || got.Products != want.Products) {
			err = errors.New("other eigenvectors than those of one process")
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
