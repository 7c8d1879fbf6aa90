package iterate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/simd"
)

// ConvergeSettings steer Converge. Columns is required; the zero value of every
// other field means its default.
type ConvergeSettings struct {
	// Columns is the number of eigenvectors k. It is less than the number of rows that
	// have neighbours.
	Columns int
	// Tolerance is the largest residual |M u - lambda u| of a unit vector u.
	// Products are float32, so that little below 1e-6 is reached. Default 1e-5.
	Tolerance float64
	// MaxProducts ends a run that does not converge. Default 1000.
	MaxProducts int
	// Start has what is known of the eigenvectors, a row for each point and at most Columns
	// columns. A row of zeros is not known: it gets the mean of its neighbours. Default: a
	// random start.
	Start blas32.General
	// UnitRows divides the rows of the result by their norm.
	UnitRows bool
	// BudgetBytes is the memory that may be taken. Default: three quarters of
	// what the machine has available.
	BudgetBytes int64
	// Reserve, if set, is asked before memory is taken, with the bytes that will be held,
	// and answers without waiting whether they may be; see kernel.Options.
	Reserve func(bytes int64) bool
	// Workers share the work, nil when the caller works alone.
	Workers *par.Workers
	// Kernels do the inner loops; nil stands for the best of this machine.
	Kernels *simd.Kernels
	// Progress is called after each projection, nil when nobody is told.
	Progress func(ConvergeRecord)
}

func (s *ConvergeSettings) withDefaults() (ConvergeSettings, error) {
	var out ConvergeSettings
	if s != nil {
		out = *s
	}
	if out.Columns < 1 {
		return out, fmt.Errorf("iterate: converge: %w: %d columns, want 1 or more", ErrSettings, out.Columns)
	}
	if out.Tolerance == 0 {
		out.Tolerance = 1e-5
	}
	if !(out.Tolerance > 0) || math.IsInf(out.Tolerance, 0) {
		return out, fmt.Errorf("iterate: converge: %w: tolerance %g, want a positive number", ErrSettings, out.Tolerance)
	}
	if out.MaxProducts == 0 {
		out.MaxProducts = 1000
	}
	if out.MaxProducts < 1 || out.BudgetBytes < 0 {
		return out, fmt.Errorf("iterate: converge: %w: %d products, budget of %d bytes", ErrSettings, out.MaxProducts, out.BudgetBytes)
	}
	if out.BudgetBytes == 0 {
		out.BudgetBytes = mem.Budget()
	}
	out.BudgetBytes = min(out.BudgetBytes, mem.AddressSpace-1) // from there on make panics
	if out.Kernels == nil {
		out.Kernels = simd.At(simd.Best())
	}
	return out, nil
}

// A ConvergeRecord says how far Converge has come.
type ConvergeRecord struct {
	Products  int     // number of products of the operator with all columns of the block
	Converged int     // columns whose residual is at most the tolerance
	Residual  float64 // the largest of the wanted columns
}

// Eigenvectors are the outcome of Converge.
type Eigenvectors struct {
	// Points has a row for each point and a column for each eigenvalue.
	Points blas32.General
	// Values has the eigenvalue lambda of each column, falling.
	Values []float64
	// Residuals has the |M u - lambda u| of each column.
	Residuals []float64
	// Products counts the products of the operator with a block of columns.
	Products int
	// Isolated is the number of rows that have no neighbours and no equals. They are
	// zero in Points.
	Isolated int
	// Mass is the sum of D over all rows: column j of Points times sqrt(Mass)/lambda_j has
	// variance 1, where rows count as their D.
	Mass float64
	// Status is Converged, or StepLimit after MaxProducts.
	Status Status
}
