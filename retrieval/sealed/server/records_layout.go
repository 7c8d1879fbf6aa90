package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"iter"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// maxContent is how many bytes a record may have.
const maxContent = scheme.MaxRecord - scheme.RecordPrefix

// lookEvery is after how many records a loop looks at its context and reports its progress.
const lookEvery = 1 << 12

// surveyRecords reads all records once, and returns a manifest that lacks their contents.
func surveyRecords(ctx context.Context, gallery wire.Hash, records iter.Seq2[[]byte, error], s *RecordsSettings) (*wire.SealedRecords, error) {
	n, longest := 0, 0
	for record, err := range records {
		switch {
		case err != nil:
			return nil, err
		case len(record) > maxContent:
			return nil, tooLong("record", n)
		case s.Rows > 0 && n == s.Rows:
			return nil, fmt.Errorf("sealed server: %w: more than the %d rows of the gallery", errRecords, s.Rows)
		case n == limits.MaxRows:
			return nil, fmt.Errorf("sealed server: %w: more than %d", errRecords, limits.MaxRows)
		case n%lookEvery == 0 && ctx.Err() != nil:
			return nil, ctx.Err()
		}
		n, longest = n+1, max(longest, len(record))
	}
	switch {
	case n == 0:
		return nil, fmt.Errorf("sealed server: %w: there are none", errRecords)
	case n < s.Rows:
		return nil, fmt.Errorf("sealed server: %w: %d for %d rows of the gallery", errRecords, n, s.Rows)
	}
	m := &wire.SealedRecords{Gallery: gallery, Records: n, Length: scheme.RecordPrefix + longest, PerColumn: s.PerColumn}
	if m.PerColumn == 0 {
		m.PerColumn = leastPerColumn(n)
	}
	if err := m.Check(); err != nil {
		return nil, fmt.Errorf("sealed server: %w: %w", errRecords, err)
	}
	return m, nil
}

// leastPerColumn returns how few of n records in a column make at most
// scheme.MaxRecordColumns columns. Fewer in a column make a shorter hint and shorter answers.
func leastPerColumn(n int) int {
	return (n-1)/scheme.MaxRecordColumns + 1
}

// A padder brings records to one length, and hashes what comes of it.
type padder struct {
	contents hash.Hash
	padded   []byte
}

func newPadder(m *wire.SealedRecords) *padder { return &padder{sha256.New(), make([]byte, m.Length)} }

// fits reports whether a record is short enough.
func (p *padder) fits(record []byte) bool { return len(record) <= len(p.padded)-scheme.RecordPrefix }

// pad returns a record that fits, with its length before it and zeros behind it, until the next
// call.
func (p *padder) pad(record []byte) []byte {
	binary.LittleEndian.PutUint16(p.padded, uint16(len(record)))
	clear(p.padded[scheme.RecordPrefix+copy(p.padded[scheme.RecordPrefix:], record):])
	p.contents.Write(p.padded)
	return p.padded
}

// sum returns the hash of all that was padded.
func (p *padder) sum() (h wire.Hash) {
	p.contents.Sum(h[:0])
	return h
}

// fillRecords puts records into a matrix of zeros, and sets the contents of the manifest. They must
// be as many as the manifest says, and none longer.
func fillRecords(ctx context.Context, to *matrix, m *wire.SealedRecords, records iter.Seq2[[]byte, error], progress func(done, total int)) error {
	n, p, column := 0, newPadder(m), make([]int8, m.Length)
	for record, err := range records {
		if err != nil {
			return err
		}
		if n == m.Records || !p.fits(record) {
			return errRecordsChanged
		}
		if n%lookEvery == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			progress(n, m.Records)
		}
		for i, b := range p.pad(record) {
			column[i] = int8(b)
		}
		to.setColumn(n/m.PerColumn, n%m.PerColumn*m.Length, column)
		n++
	}
	if n != m.Records {
		return errRecordsChanged
	}
	m.Contents = p.sum()
	progress(n, n)
	return nil
}

var errRecordsChanged = fmt.Errorf("sealed server: %w: they changed while they were read", errRecords)
