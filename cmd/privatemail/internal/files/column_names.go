package files

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// Named is a list of names of columns, and what has them: a file, a model, the map of a server.
type Named struct {
	What  string
	Names []string // nil where there are none
}

// ColumnsOf returns the names of the columns of an input, once they are known.
func (in Input) ColumnsOf() Named {
	if in.Read == nil {
		return Named{What: in.Features}
	}
	return Named{in.Features, in.Read.Columns}
}

// OrderOf returns where each column that is wanted is among those that there are. It is nil where one
// side has no names, or both have the same in the same order: then columns stay where they are.
// A name that one side has and the other has not is an error that says which.
func OrderOf(want, have Named) ([]int, error) {
	if want.Names == nil || have.Names == nil || slices.Equal(want.Names, have.Names) {
		return nil, nil
	}
	there := make(map[string]int, len(have.Names))
	for i, name := range have.Names {
		if before, ok := there[name]; ok {
			return nil, fmt.Errorf("%s: columns %d and %d of the features have the same name, so none can be taken by it; rename one, or choose with -columns", have.What, before+1, i+1)
		}
		there[name] = i
	}
	var missing, extra []string
	order := make([]int, 0, len(want.Names))
	known := make(map[string]bool, len(want.Names))
	for i, name := range want.Names {
		if known[name] {
			return nil, fmt.Errorf("%s: two of its columns have the same name, column %d of the features is the second; those of %s cannot be taken by name", want.What, i+1, have.What)
		}
		known[name] = true
		at, ok := there[name]
		if !ok {
			missing = append(missing, showName(name, i))
		}
		order = append(order, at)
	}
	for i, name := range have.Names {
		if !known[name] {
			extra = append(extra, showName(name, i))
		}
	}
	return order, explainNames(want, have, missing, extra)
}

// explainNames is the error about columns that one side has and the other has not, nil for none.
func explainNames(want, have Named, missing, extra []string) error {
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Errorf("%s: %s missing, which %s has, and %s not among those of it; columns are taken by name, in any order", have.What, areOrIs(missing), want.What, areOrIs(extra))
	case len(missing) > 0:
		return fmt.Errorf("%s: %s missing, which %s has; columns are taken by name, in any order", have.What, areOrIs(missing), want.What)
	case len(extra) > 0:
		return fmt.Errorf("%s: %s not among those of %s; -columns leaves out what is too much", have.What, areOrIs(extra), want.What)
	}
	return nil
}

// showName is the name of a column for a message. A number may be a value of a first line that is no
// header, and values are not shown.
func showName(name string, column int) string {
	const most = 40
	if _, err := strconv.ParseFloat(strings.TrimSpace(name), 64); err == nil || name == "" {
		return "number " + strconv.Itoa(column+1)
	}
	if runes := []rune(name); len(runes) > most {
		name = string(runes[:most]) + "..."
	}
	return strconv.Quote(name)
}

// areOrIs lists columns in front of what they are.
func areOrIs(columns []string) string {
	const most = 4
	if len(columns) == 1 {
		return "column " + columns[0] + " is"
	}
	text := "columns " + strings.Join(columns[:min(len(columns), most)], ", ")
	if more := len(columns) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + " are"
}

// Arrange returns the rows of an input with their columns in the order of the names that are wanted.
func (in Input) Arrange(x blas32.General, want Named) (blas32.General, error) {
	order, err := OrderOf(want, in.ColumnsOf())
	if err != nil || order == nil {
		return x, err
	}
	if bytes := 4 * int64(len(x.Data)); bytes > mem.DefaultLimit() {
		return x, fmt.Errorf("%s: %w: a copy of the rows with their columns in the order of %s takes %d bytes; put them in that order, or convert fewer rows at a time", in.Features, formats.ErrLimit, want.What, bytes)
	}
	x.Data = slices.Clone(x.Data) // a file may be mapped
	Permute(x, order)
	return x, nil
}

// Permute puts the columns of rows in the given order.
func Permute(x blas32.General, order []int) {
	before := make([]float32, x.Cols)
	for i := range x.Rows {
		row := x.Data[i*x.Stride:][:x.Cols]
		copy(before, row)
		for j, from := range order {
			row[j] = before[from]
		}
	}
}

// columnsName is the file of a folder with the names of columns.
const columnsName = "columns.csv"

// ReadColumnNames reads the names of columns from a file of their own, and refuses another number of
// them than there are columns.
func (in Input) ReadColumnNames(ctx context.Context, columns int) error {
	if in.Read == nil || in.Read.namesFile == "" {
		return nil
	}
	names, err := formats.ReadColumnNames(ctx, in.Read.namesFile)
	switch {
	case err != nil:
		return err
	case len(names) != columns:
		return fmt.Errorf("%s: %d names of columns, and the rows have %d", in.Read.namesFile, len(names), columns)
	}
	in.Read.Columns = names
	return nil
}
