package server

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
)

// Holds tells whether records are those that r has. The error is that of the sequence or of
// ctx.
func (r *Records) Holds(ctx context.Context, records iter.Seq2[[]byte, error]) (bool, error) {
	m, h, count := &r.manifest, sha256.New(), 0
	padded := make([]byte, m.Length)
	for record, err := range records {
		if err != nil {
			return false, err
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		if count++; count > m.Records || len(record) > m.Length-sealed.RecordPrefix {
			return false, nil
		}
		clear(padded)
		binary.LittleEndian.PutUint16(padded, uint16(len(record)))
		copy(padded[sealed.RecordPrefix:], record)
		h.Write(padded)
	}
	return count == m.Records && [sha256.Size]byte(h.Sum(nil)) == m.Contents, nil
}
