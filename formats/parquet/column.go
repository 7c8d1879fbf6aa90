package parquet

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// column is a column of features: numbers, or lists of numbers.
type column struct {
	arrow.Array
	span  func(row int) (from, to int) // the values of a row
	value func(k int) (v float64, ok bool)
}

// columnOf returns how to read the values of an array.
func columnOf(a arrow.Array) (column, error) {
	c := column{Array: a, span: func(row int) (int, int) { return row, row + 1 }}
	values := a
	if list, ok := a.(array.ListLike); ok {
		values = list.ListValues()
		c.span = func(row int) (int, int) {
			from, to := list.ValueOffsets(row)
			return int(from), int(to)
		}
	}
	get := numbers(values)
	if get == nil {
		return c, errors.New("holds no numbers; choose columns of numbers, and name the column of labels")
	}
	c.value = func(k int) (float64, bool) {
		if values.IsNull(k) {
			return 0, false
		}
		return get(k), true
	}
	return c, nil
}

// numbers returns a function for the elements of an array, or nil if they are not numbers.
func numbers(a arrow.Array) func(i int) float64 {
	switch a := a.(type) {
	case *array.Float16:
		return func(i int) float64 { return float64(a.Value(i).Float32()) }
	case *array.Float32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Float64:
		return a.Value
	case *array.Int8:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int16:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Int64:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint8:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint16:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint32:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Uint64:
		return func(i int) float64 { return float64(a.Value(i)) }
	case *array.Boolean:
		return func(i int) float64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	}
	return nil
}
