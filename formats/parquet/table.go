// Package parquet reads features and labels from Parquet files. It is a separate module: its
// Parquet library needs 18 modules, and makes a program that only opens a file 33 MB large.
package parquet

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/seed-64e14a55/privatemail/formats"
)

// batchRows is how many rows are read at a time.
const batchRows = 4096

// Table is a matrix with the labels of its rows.
type Table struct {
	Rows, Cols int
	Data       []float32
	Columns    []string // the names of the columns of Data; a column of lists becomes name[1], name[2] and so on
	Labels     []string // as text, "" for none; nil without a column of labels
}

// Read reads a file. Columns, Label and Limit of s mean the same as in formats.ReadTable; a nil
// s is the zero value. Features are columns of numbers, and columns of lists of numbers of one
// length, which count as that many columns.
func Read(ctx context.Context, path string, s *formats.TableSettings) (t *Table, err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some damaged files
			t, err = nil, fmt.Errorf("%s: damaged", path)
		}
	}()
	if s == nil {
		s = new(formats.TableSettings)
	}
	raw, err := file.OpenParquetFile(path, false)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer raw.Close() // only read from, so nothing is lost if closing fails
	if t, err = read(ctx, raw, s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

func read(ctx context.Context, raw *file.Reader, s *formats.TableSettings) (*Table, error) {
	r, err := pqarrow.NewFileReader(raw, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	schema, err := r.Schema()
	if err != nil {
		return nil, err
	}
	names := make([]string, schema.NumFields())
	for i, field := range schema.Fields() {
		names[i] = field.Name
	}
	layout, err := s.Layout(names)
	if err != nil {
		return nil, err
	}
	records, err := r.GetRecordReader(ctx, nil, nil)
	if err != nil {
		return nil, err
	}
	defer records.Release()
	b := &builder{layout: layout, limit: s.Limit, widths: make([]int, len(layout.Features)), lists: make([]bool, len(layout.Features))}
	for records.Next() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := b.add(records.RecordBatch()); err != nil {
			return nil, err
		}
	}
	if err := records.Err(); err != nil {
		return nil, err
	}
	b.nameColumns()
	return &b.Table, nil
}

// builder collects batches.
type builder struct {
	Table
	layout *formats.Layout
	limit  int64
	widths []int  // values of each column of features in a row, 0 before the first
	lists  []bool // whether a column of features holds lists
}

// nameColumns names the columns of Data, once the lengths of lists are known from rows.
func (b *builder) nameColumns() {
	if b.Rows == 0 {
		return
	}
	for i, c := range b.layout.Features {
		name := b.layout.Names[c]
		if !b.lists[i] {
			b.Columns = append(b.Columns, name)
			continue
		}
		for k := range b.widths[i] {
			b.Columns = append(b.Columns, fmt.Sprintf("%s[%d]", name, k+1))
		}
	}
}

// add appends the rows of a batch.
func (b *builder) add(batch arrow.RecordBatch) error {
	n := int(batch.NumRows())
	columns := make([]column, len(b.layout.Features))
	for i, c := range b.layout.Features {
		var err error
		if columns[i], err = columnOf(batch.Column(c)); err != nil {
			return fmt.Errorf("column %d %w", c+1, err)
		}
		_, b.lists[i] = batch.Column(c).DataType().(arrow.NestedType)
	}
	if len(columns) == 0 {
		return errors.New("no column of features is left")
	}
	for row := range n {
		before := len(b.Data)
		for i, c := range columns {
			if err := b.addValues(c, row, i); err != nil {
				return fmt.Errorf("row %d, column %d %w", b.Rows+1, b.layout.Features[i]+1, err)
			}
		}
		b.Cols = len(b.Data) - before
		b.Rows++
		if b.limit > 0 && int64(len(b.Data)) > b.limit/4 {
			return fmt.Errorf("%w: the rows take more than %d bytes of memory", formats.ErrLimit, b.limit)
		}
	}
	if b.layout.Label < 0 {
		return nil
	}
	return b.addLabels(batch.Column(b.layout.Label))
}

// addValues appends the values of column i in a row.
func (b *builder) addValues(c column, row, i int) error {
	if c.IsNull(row) {
		return errors.New("has no value")
	}
	from, to := c.span(row)
	if width := to - from; b.Rows == 0 {
		b.widths[i] = width
	} else if width != b.widths[i] {
		return errors.New("has a list of another length than in row 1")
	}
	for k := from; k < to; k++ {
		v, ok := c.value(k)
		if !ok {
			return errors.New("has no value")
		}
		if math.IsInf(float64(float32(v)), 0) && !math.IsInf(v, 0) {
			return errors.New("has a number that does not fit in float32")
		}
		b.Data = append(b.Data, float32(v))
	}
	return nil
}

// addLabels appends labels as text.
func (b *builder) addLabels(values arrow.Array) error {
	if _, nested := values.DataType().(arrow.NestedType); nested {
		return fmt.Errorf("column %d holds lists, not labels", b.layout.Label+1)
	}
	for i := range values.Len() {
		text := ""
		if !values.IsNull(i) {
			text = values.ValueStr(i)
		}
		b.Labels = append(b.Labels, text)
	}
	return nil
}
