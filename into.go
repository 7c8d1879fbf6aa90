package privatemail

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// checkInto refuses a buffer that does not fit points of that many columns, or that
// shares memory with the features, which may be a file that cannot be written to.
func (s *Settings) checkInto(features blas32.General, columns int) error {
	if err := pipeline.CheckInto(s.Into, features.Rows, columns); err != nil {
		return err
	}
	if mem.Overlap(used(s.Into), used(features)) {
		return fmt.Errorf("into: %w: it shares memory with the features", sparse.ErrAlias)
	}
	return nil
}

// used returns the part of the storage from the first entry of x to the last.
func used(x blas32.General) []float32 {
	if x.Rows == 0 || x.Cols == 0 {
		return nil
	}
	return x.Data[:(x.Rows-1)*x.Stride+x.Cols]
}

// overwrites reports whether the points go to the memory of the features. This is allowed
// with Overwrite where the features are not read again once the graph is built: a graph
// that is truncated at a radius or by a number of neighbours keeps a copy of what it
// needs.
func (s *Settings) overwrites(features blas32.General) bool {
	return s.Overwrite && s.weights().Truncated(s.Operator) && s.Into.Data != nil && s.Start.Data == nil && s.Form == kernel.Attract &&
		s.Into.Rows == features.Rows && s.Into.Cols == features.Cols && s.Into.Stride == features.Stride &&
		len(s.Into.Data) == len(features.Data) && &s.Into.Data[0] == &features.Data[0]
}

// columnsAtOnce is the number of columns of which there are two iterates at a
// time.
func (s *Settings) columnsAtOnce() int {
	run := iterate.Settings{Overwrite: s.Overwrite}
	return run.ColumnsAtOnce(s.Dim)
}

// entryBytes is the memory of an entry of the points, without the graph.
func (s *Settings) entryBytes(features blas32.General) float64 {
	const single, double = 4, 8
	some := 2 * single * float64(s.columnsAtOnce()) / float64(s.Dim) // two iterates
	switch {
	case s.Into.Data == nil: // the start, two iterates, and the result in float64
		return single + some + double
	case s.Start.Data == nil && s.Form != kernel.Attract: // the start, two iterates, and the buffer
		return single + 2*single + single
	case s.overwrites(features):
		return some
	}
	return some + single // two iterates, and the buffer
}

// output returns points in float64, or copies them to the buffer of the caller and returns nil.
func (s *Settings) output(points blas32.General) *mat.Dense {
	if s.Into.Data == nil {
		return pipeline.Widen(points)
	}
	for i := range points.Rows {
		copy(s.Into.Data[i*s.Into.Stride:][:points.Cols], points.Data[i*points.Stride:])
	}
	return nil
}
