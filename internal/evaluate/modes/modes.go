// Package modes lists every way to answer queries that this project can measure:
// its own modes, the baselines of the paper, and both the published method and
// mode supervised taken apart.
//
//	all := modes.All()
//	cells, err := evaluate.Grid{Data: data, Modes: all, Seeds: []uint64{1}, Epsilons: []float64{1, 4}}.Cells()
//	...
//	records, err := (&evaluate.Sweep{Data: data, Modes: all}).Run(ctx, cells)
//
// Each mode goes the way its users go: the client asks, the server answers, and
// only messages of package retrieval/wire pass between them.
package modes

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/baseline"
)

// All returns the modes in the order of tables. A mode that is no variant of another
// has a function of its own as well, for callers that measure some modes only.
func All() []evaluate.Mode {
	all := []evaluate.Mode{
		baseline.Raw(), baseline.Prepared(), Supervised(), baseline.SMLQ(), baseline.TSNE(),
		Cells(), CellsPrepared(), AllRows(), Sealed(), Subset(), Response(), SubsetPrepared(), ResponsePrepared(),
		Paper(), baseline.Gaussian(), baseline.PCA(), baseline.Projection(), PrivUnit(), PrivUnitPrepared(), baseline.DSNE(),
		Authors(),
	}
	return slices.Concat(all, publishedModes(), ablation())
}
