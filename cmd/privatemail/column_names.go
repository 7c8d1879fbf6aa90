package main

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

// named is a list of names of columns, and what has them: a file, a model, the map of a server.
type named struct {
	what  string
	names []string // nil where there are none
}

// columnsOf returns the names of the columns of an input, once they are known.
func (in input) columnsOf() named {
	if in.read == nil {
		return named{what: in.features}
	}
	return named{in.features, in.read.columns}
}

// orderOf returns where each column that is wanted is among those that there are. It is nil where one
// side has no names, or both have the same in the same order: then columns stay where they are.
// A name that one side has and the other has not is an error that says which.
func orderOf(want, have named) ([]int, error) {
	if want.names == nil || have.names == nil || slices.Equal(want.names, have.names) {
		return nil, nil
	}
	there := make(map[string]int, len(have.names))
	for i, name := range have.names {
		if before, ok := there[name]; ok {
			return nil, fmt.Errorf("%s: columns %d and %d of the features have the same name, so none can be taken by it; rename one, or choose with -columns", have.what, before+1, i+1)
		}
		there[name] = i
	}
	var missing, extra []string
	order := make([]int, 0, len(want.names))
	known := make(map[string]bool, len(want.names))
	for i, name := range want.names {
		if known[name] {
			return nil, fmt.Errorf("%s: two of its columns have the same name, column %d of the features is the second; those of %s cannot be taken by name", want.what, i+1, have.what)
		}
		known[name] = true
		at, ok := there[name]
		if !ok {
			missing = append(missing, showName(name, i))
		}
		order = append(order, at)
	}
	for i, name := range have.names {
		if !known[name] {
			extra = append(extra, showName(name, i))
		}
	}
	return order, explainNames(want, have, missing, extra)
}

// explainNames is the error about columns that one side has and the other has not, nil for none.
func explainNames(want, have named, missing, extra []string) error {
	switch {
	case len(missing) > 0 && len(extra) > 0:
		return fmt.Errorf("%s: %s missing, which %s has, and %s not among those of it; columns are taken by name, in any order", have.what, areOrIs(missing), want.what, areOrIs(extra))
	case len(missing) > 0:
		return fmt.Errorf("%s: %s missing, which %s has; columns are taken by name, in any order", have.what, areOrIs(missing), want.what)
	case len(extra) > 0:
		return fmt.Errorf("%s: %s not among those of %s; -columns leaves out what is too much", have.what, areOrIs(extra), want.what)
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

// arrange returns the rows of an input with their columns in the order of the names that are wanted.
func (in input) arrange(x blas32.General, want named) (blas32.General, error) {
	order, err := orderOf(want, in.columnsOf())
	if err != nil || order == nil {
		return x, err
	}
	if bytes := 4 * int64(len(x.Data)); bytes > mem.Budget() {
		return x, fmt.Errorf("%s: %w: a copy of the rows with their columns in the order of %s takes %d bytes; put them in that order, or convert fewer rows at a time", in.features, formats.ErrLimit, want.what, bytes)
	}
	x.Data = slices.Clone(x.Data) // a file may be mapped
	permute(x, order)
	return x, nil
}

// permute puts the columns of rows in the given order.
func permute(x blas32.General, order []int) {
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

// readColumnNames reads the names of columns from a file of their own, and refuses another number of
// them than there are columns.
func (in input) readColumnNames(ctx context.Context, columns int) error {
	if in.read == nil || in.read.namesFile == "" {
		return nil
	}
	names, err := formats.ReadColumnNames(ctx, in.read.namesFile)
	switch {
	case err != nil:
		return err
	case len(names) != columns:
		return fmt.Errorf("%s: %d names of columns, and the rows have %d", in.read.namesFile, len(names), columns)
	}
	in.read.columns = names
	return nil
}
