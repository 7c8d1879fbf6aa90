package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"iter"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// MaxContent is how many bytes a record may have.
const MaxContent = wire.MaxRecord - sealed.RecordPrefix

// lookEvery is after how many records a loop looks at its context and reports its progress.
const lookEvery = 1 << 12

// surveyRecords reads all records once, and returns a manifest that lacks their contents.
func surveyRecords(ctx context.Context, gallery wire.Hash, records iter.Seq2[[]byte, error], s *RecordsSettings) (*wire.SealedRecords, error) {
	n, longest := 0, 0
	for record, err := range records {
		switch {
		case err != nil:
			return nil, err
		case len(record) > MaxContent:
			return nil, tooLong("record", n)
		case s.Rows > 0 && n == s.Rows:
			return nil, fmt.Errorf("server: %w: more than the %d rows of the gallery", ErrRecords, s.Rows)
		case n == wire.MaxRows:
			return nil, fmt.Errorf("server: %w: more than %d", ErrRecords, wire.MaxRows)
		case n%lookEvery == 0 && ctx.Err() != nil:
			return nil, ctx.Err()
		}
		n, longest = n+1, max(longest, len(record))
	}
	switch {
	case n == 0:
		return nil, fmt.Errorf("server: %w: there are none", ErrRecords)
	case n < s.Rows:
		return nil, fmt.Errorf("server: %w: %d for %d rows of the gallery", ErrRecords, n, s.Rows)
	}
	m := &wire.SealedRecords{Gallery: gallery, Records: n, Length: sealed.RecordPrefix + longest, PerColumn: s.PerColumn}
	if m.PerColumn == 0 {
		m.PerColumn = leastPerColumn(n)
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("server: %w: %w", ErrRecords, err)
	}
	return m, nil
}

// leastPerColumn returns how few of n records in a column make at most
// wire.MaxRecordColumns columns. Fewer in a column make a shorter hint and shorter answers.
func leastPerColumn(n int) int {
	return (n-1)/wire.MaxRecordColumns + 1
}

// lineColumns is how many columns are side by side in a line of a panel.
const lineColumns = 4

// A recordFiller puts records into a matrix, one behind the other. A column is the padded
// records in it, one below the other, so the records of a few columns are as many bytes in
// a row, which become lines of a panel together.
type recordFiller struct {
	shape    *wire.SealedRecords
	to       *matrix
	contents hash.Hash
	columns  []byte // lineColumns of the matrix
	used     int    // bytes of them
	first    int    // the column that columns begins with
}

func newRecordFiller(shape *wire.SealedRecords, to *matrix) *recordFiller {
	return &recordFiller{shape: shape, to: to, contents: sha256.New(), columns: make([]byte, lineColumns*shape.MatrixRows())}
}

// fill puts all records into the matrix, and sets the contents of the manifest. The records must
// be those of the survey.
func (f *recordFiller) fill(ctx context.Context, records iter.Seq2[[]byte, error], progress func(done int)) error {
	n := 0
	for record, err := range records {
		if err != nil {
			return err
		}
		if n == f.shape.Records || len(record) > f.shape.Length-sealed.RecordPrefix {
			return errRecordsChanged
		}
		if n%lookEvery == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			progress(n)
		}
		f.add(record)
		n++
	}
	if n != f.shape.Records {
		return errRecordsChanged
	}
	f.flush()
	f.contents.Sum(f.shape.Contents[:0])
	progress(n)
	return nil
}

var errRecordsChanged = fmt.Errorf("server: %w: they changed while they were read", ErrRecords)

// add takes the next record.
func (f *recordFiller) add(record []byte) {
	if f.used == len(f.columns) {
		f.flush()
	}
	padded := f.columns[f.used:][:f.shape.Length]
	binary.LittleEndian.PutUint16(padded, uint16(len(record)))
	clear(padded[sealed.RecordPrefix+copy(padded[sealed.RecordPrefix:], record):])
	f.contents.Write(padded)
	f.used += len(padded)
}

// flush puts the columns at hand into their panel. Columns of the last line that have no
// records are zeros.
func (f *recordFiller) flush() {
	clear(f.columns[f.used:])
	block := f.first / f.to.blockDepth()
	place := f.first % f.to.blockDepth()
	putColumns(f.to.panel(block), f.to.depth(block), place, f.columns)
	f.first, f.used = f.first+lineColumns, 0
}

// putColumns writes columns, one behind the other, to a panel of the given depth, from a
// place on that is a multiple of lineColumns. The layout is that of simd.PackRows.
func putColumns(panel []int8, depth, place int, columns []byte) {
	const group = 16 // rows of a line
	rows := len(columns) / lineColumns
	for r := range rows {
		line := panel[r/group*group*depth+place*group+r%group*lineColumns:][:lineColumns]
		for c := range line {
			line[c] = int8(columns[c*rows+r])
		}
	}
}

