package kernel

import "github.com/seed-64e14a55/privatemail/kernel/internal/base"

// Sentinels, for errors.Is. The errors that functions return add the numbers.
var (
	// ErrEmpty reports input without rows or columns.
	ErrEmpty = base.ErrEmpty
	// ErrShape reports sizes that do not fit together.
	ErrShape = base.ErrShape
	// ErrNonFinite reports a NaN or an infinity; see points.NonFiniteError.
	ErrNonFinite = base.ErrNonFinite
	// ErrBandwidth reports a bandwidth that is not a positive number, or one so
	// extreme that the exponents of weights overflow.
	ErrBandwidth = base.ErrBandwidth
	// ErrLabels reports labels that are missing, negative or too many.
	ErrLabels = base.ErrLabels
	// ErrMemory reports that the work does not fit the memory limit. It is returned
	// before the memory is taken; see MemoryError.
	ErrMemory = base.ErrMemory
	// ErrIsolated reports rows without neighbours under the policy Fail.
	ErrIsolated = base.ErrIsolated
	// ErrTolerance reports that no operator reaches the tolerance; see
	// ToleranceError.
	ErrTolerance = base.ErrTolerance
	// ErrOperator reports an operator that does not exist, or one that cannot do what is
	// asked for.
	ErrOperator = base.ErrOperator
	// ErrOption reports an option outside its range, and a label table that is not symmetric
	// and finite or that the form of the step cannot use.
	ErrOption = base.ErrOption
	// ErrUnitNorm reports a row whose norm is not 1; see UnitNormError.
	ErrUnitNorm = base.ErrUnitNorm
)

// A MemoryError says how much memory was needed and how much the limit is:
//
//	What        string // what would have been allocated
//	Need, Limit int64  // bytes
//
// Its message also says what could be done instead. It matches ErrMemory.
type MemoryError = base.MemoryError

// A ToleranceError says that no operator meets the tolerance, and which one comes closest:
//
//	Tolerance float64 // the tolerance asked for
//	Eta       float64 // the eta that 99 in 100 rows of Operator do not exceed, or all rows under the policy Fail
//	Operator  string  // the operator that comes closest
//
// Its message also says what that one would cost. It matches ErrTolerance.
type ToleranceError = base.ToleranceError

// A UnitNormError names the first row that is not of unit norm:
//
//	Row int // counted from 0
//
// It has no norm, because rows may be private. It matches ErrUnitNorm.
type UnitNormError = base.UnitNormError
