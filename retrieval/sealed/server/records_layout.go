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
			return nil, fmt.Errorf("sealed server: %w: more than the %d rows of the gallery", ErrRecords, s.Rows)
		case n == wire.MaxRows:
			return nil, fmt.Errorf("sealed server: %w: more than %d", ErrRecords, wire.MaxRows)
		case n%lookEvery == 0 && ctx.Err() != nil:
			return nil, ctx.Err()
		}
		n, longest = n+1, max(longest, len(record))
	}
	switch {
	case n == 0:
		return nil, fmt.Errorf("sealed server: %w: there are none", ErrRecords)
	case n < s.Rows:
		return nil, fmt.Errorf("sealed server: %w: %d for %d rows of the gallery", ErrRecords, n, s.Rows)
	}
	m := &wire.SealedRecords{Gallery: gallery, Records: n, Length: sealed.RecordPrefix + longest, PerColumn: s.PerColumn}
	if m.PerColumn == 0 {
		m.PerColumn = leastPerColumn(n)
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("sealed server: %w: %w", ErrRecords, err)
	}
	return m, nil
}

// leastPerColumn returns how few of n records in a column make at most
// wire.MaxRecordColumns columns. Fewer in a column make a shorter hint and shorter answers.
func leastPerColumn(n int) int {
	return (n-1)/wire.MaxRecordColumns + 1
}

// A recordFiller puts records into a matrix, one after the other.
type recordFiller struct {
	shape    *wire.SealedRecords
	to       *matrix
	contents hash.Hash
	padded   []byte // of one record
	bytes    []int8 // the same, as the matrix takes them
}

func newRecordFiller(shape *wire.SealedRecords, to *matrix) *recordFiller {
	return &recordFiller{shape, to, sha256.New(), make([]byte, shape.Length), make([]int8, shape.Length)}
}

// fill puts all records into the matrix, and sets the contents of the manifest. The records
// must be as many as those of the survey, and none longer.
func (f *recordFiller) fill(ctx context.Context, records iter.Seq2[[]byte, error], progress func(done, total int)) error {
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
			progress(n, f.shape.Records)
		}
		f.put(n, record)
		n++
	}
	if n != f.shape.Records {
		return errRecordsChanged
	}
	f.contents.Sum(f.shape.Contents[:0])
	progress(n, n)
	return nil
}

var errRecordsChanged = fmt.Errorf("sealed server: %w: they changed while they were read", ErrRecords)

// put sets the part of a column that a record has.
func (f *recordFiller) put(number int, record []byte) {
	binary.LittleEndian.PutUint16(f.padded, uint16(len(record)))
	clear(f.padded[sealed.RecordPrefix+copy(f.padded[sealed.RecordPrefix:], record):])
	f.contents.Write(f.padded)
	for i, b := range f.padded {
		f.bytes[i] = int8(b)
	}
	f.to.setColumn(number/f.shape.PerColumn, number%f.shape.PerColumn*f.shape.Length, f.bytes)
}
