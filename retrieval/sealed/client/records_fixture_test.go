package client

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A recordServer is a plain server of records, which keeps to the definitions.
type recordServer struct {
	records  [][]byte
	manifest wire.SealedRecords
	epoch    wire.Hash
	matrix   [][]int8 // by rows
	public   []uint32 // Columns x SecretWords
}

func newRecordServer(t *testing.T, records [][]byte, perColumn int) *recordServer {
	t.Helper()
	s := &recordServer{records: records}
	m := &s.manifest
	*m = wire.SealedRecords{Gallery: wire.Hash{5}, Records: len(records), PerColumn: perColumn}
	for _, record := range records {
		m.Length = max(m.Length, 2+len(record))
	}
	s.matrix = make([][]int8, m.MatrixRows())
	for i := range s.matrix {
		s.matrix[i] = make([]int8, m.Columns())
	}
	contents := sha256.New()
	for i, record := range records {
		padded := make([]byte, m.Length)
		binary.LittleEndian.PutUint16(padded, uint16(len(record)))
		copy(padded[2:], record)
		contents.Write(padded)
		for j, b := range padded {
			s.matrix[i%perColumn*m.Length+j][i/perColumn] = int8(b)
		}
	}
	contents.Sum(m.Contents[:0])
	var err error
	if s.epoch, err = m.Hash(); err != nil {
		t.Fatal(err)
	}
	s.public = make([]uint32, m.Columns()*scheme.SecretWords)
	scheme.NewMatrix(s.epoch).Rows(s.public, 0)
	return s
}

func (s *recordServer) hint() *wire.SealedHint {
	h := &wire.SealedHint{Epoch: s.epoch, Rows: len(s.matrix), Words: make([]uint32, len(s.matrix)*scheme.SecretWords)}
	for r, row := range s.matrix {
		to := h.Words[r*scheme.SecretWords : (r+1)*scheme.SecretWords]
		for c, v := range row {
			if v == 0 {
				continue
			}
			for j, word := range s.public[c*scheme.SecretWords : (c+1)*scheme.SecretWords] {
				to[j] += uint32(int32(v)) * word
			}
		}
	}
	return h
}

func (s *recordServer) answer(r *wire.SealedRequest) *wire.SealedAnswer {
	a := &wire.SealedAnswer{Epoch: s.epoch, Count: r.Count, Rows: len(s.matrix)}
	for f := range r.Count {
		u := words(r, f)
		for _, row := range s.matrix {
			var sum uint32
			for c, v := range row {
				sum += uint32(int32(v)) * u[c]
			}
			a.Words = append(a.Words, sum)
		}
	}
	return a
}

// client returns a client of the records.
func (s *recordServer) client(t *testing.T) *Records {
	t.Helper()
	r, err := NewRecords(&s.manifest, s.hint(), RecordsSettings{Gallery: s.manifest.Gallery, Epoch: s.epoch, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fetch returns a fetch of records.
func fetch(t *testing.T, r *Records, ids ...uint32) *Fetching {
	t.Helper()
	f, err := r.Fetch(t.Context(), ids)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// someRecords returns n records of random bytes and lengths up to longest.
func someRecords(n, longest int) [][]byte {
	r := rand.New(rand.NewPCG(uint64(n), uint64(longest)))
	out := make([][]byte, n)
	for i := range out {
		out[i] = make([]byte, r.IntN(longest+1))
		for j := range out[i] {
			out[i][j] = byte(r.Uint32())
		}
	}
	return out
}
