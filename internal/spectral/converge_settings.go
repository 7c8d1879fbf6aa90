package spectral

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// ConvergeSettings are the settings of Converge. Columns is required; the zero
// value of every other field means its default.
type ConvergeSettings struct {
	// Dim is the number of eigenvectors, less than the number of rows with
	// neighbours.
	Dim int
	// Tolerance is the largest residual |M u - lambda u| of a unit vector u.
	// Products are float32, so it gets little below 1e-6. Default 1e-5.
	Tolerance float64
	// MaxProducts ends a run that does not converge. Default 1000.
	MaxProducts int
	// Start has estimates of the eigenvectors, a row for each point and at most Dim
	// columns. A row of zeros is unknown: it gets the mean of its neighbours. Default: a
	// random start.
	Start blas32.General
	// UnitRows divides the rows of the result by their norm.
	UnitRows bool
	// MaxMemory is the memory that may be taken. Default: three quarters of
	// the available memory.
	MaxMemory int64
	// Reserve, if set, is called with the bytes that will be held, before any are taken,
	// and returns without waiting whether they may be taken; see kernel.Options.
	Reserve func(bytes int64) bool
	// Workers share the work; nil means the caller works alone.
	Workers *par.Workers
	// Kernels do the inner loops; nil means the best of this machine.
	Kernels *simd.Kernels
	// Progress, if set, is called after each projection.
	Progress func(ConvergeRecord)
}

func (s *ConvergeSettings) withDefaults() (ConvergeSettings, error) {
	var out ConvergeSettings
	if s != nil {
		out = *s
	}
	if out.Dim < 1 {
		return out, fmt.Errorf("iterate: converge: %w: %d columns, want 1 or more", kernel.ErrOption, out.Dim)
	}
	if out.Tolerance == 0 {
		out.Tolerance = 1e-5
	}
	if !(out.Tolerance > 0) || math.IsInf(out.Tolerance, 0) {
		return out, fmt.Errorf("iterate: converge: %w: tolerance %g, want a positive number", kernel.ErrOption, out.Tolerance)
	}
	if out.MaxProducts == 0 {
		out.MaxProducts = 1000
	}
	if out.MaxProducts < 1 || out.MaxMemory < 0 {
		return out, fmt.Errorf("iterate: converge: %w: %d products, %d bytes of memory", kernel.ErrOption, out.MaxProducts, out.MaxMemory)
	}
	if out.MaxMemory == 0 {
		out.MaxMemory = mem.DefaultLimit()
	}
	out.MaxMemory = min(out.MaxMemory, mem.AddressSpace-1) // beyond it make panics
	if out.Kernels == nil {
		out.Kernels = simd.At(simd.Best())
	}
	return out, nil
}

// A ConvergeRecord is the progress of Converge.
type ConvergeRecord struct {
	Products  int     // number of products of the operator with all columns of the block
	Converged int     // columns whose residual is at most the tolerance
	Residual  float64 // the largest of the wanted columns
}

// Eigenvectors is the result of Converge.
type Eigenvectors struct {
	// Points has a row for each point and a column for each eigenvalue.
	Points blas32.General
	// Values has the eigenvalue lambda of each column, falling.
	Values []float64
	// Residuals has the |M u - lambda u| of each column.
	Residuals []float64
	// Products counts the products of the operator with a block of columns.
	Products int
	// Isolated is the number of rows without neighbours or equal rows. They are zero
	// in Points.
	Isolated int
	// Mass is the sum of D over all rows: column j of Points times sqrt(Mass)/lambda_j has
	// variance 1, where rows count as their D.
	Mass float64
	// Status is iterate.Converged, or iterate.StepLimit after MaxProducts.
	Status iterate.Status
}
