package peers

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// sealed plays the product of a gallery with the ciphertexts of one query.
func (c *contest) sealed(ctx context.Context, n int, work measure.Portion) error {
	matches := c.matches(record.Ratio{Suite: "sealed", N: n, D: suites.SealedDimension, K: suites.SealedProbes}, func(w int) string {
		return fmt.Sprintf("op=one/n=%d/d=%d/workers=%d", n, suites.SealedDimension, w)
	})
	if len(matches) == 0 {
		return nil
	}
	s, err := suites.NewSealedSetting(ctx, c.lab, n)
	if err != nil {
		return err
	}
	request := s.Asked[0].Request()
	if request.Count != suites.SealedProbes {
		return fmt.Errorf("%d rows have fewer than %d cells", n, suites.SealedProbes)
	}
	for _, m := range matches {
		var answer *wire.SealedAnswer
		m.ratio.NNZ = int64(request.Count) * s.MatrixBytes()
		m.ours = func(ctx context.Context) error {
			s.Gallery.SetWorkers(s.Lab.Workers(m.ratio.Workers))
			answers, err := s.Gallery.Answer(ctx, request)
			if err == nil {
				answer = answers[0]
			}
			return err
		}
		m.differ = func(file string) (float64, error) { return differentWords(file, answer.Words) }
	}
	return c.playAll(ctx, "sealed", func(file string) error { return writeProduct(ctx, s, file, request) }, matches, work)
}

// writeProduct writes the matrix of the server, row by row, and the words of a request.
func writeProduct(ctx context.Context, s *suites.SealedSetting, file string, r *wire.SealedRequest) error {
	stored, err := s.StoredRows(ctx)
	if err != nil {
		return err
	}
	m := s.Manifest
	ids := s.Gallery.IDs().IDs
	matrix := make([]int8, m.Length*m.Columns())
	for name, id := range ids {
		if id == wire.Padding {
			continue
		}
		cell, slot := name/m.Length, name%m.Length
		copy(matrix[slot*m.Columns()+cell*m.Dimension:], stored[int(id)*m.Dimension:][:m.Dimension])
	}
	words := make([]uint32, r.Count*r.Columns)
	for i := range words {
		for b := range r.Width {
			words[i] |= uint32(r.Bytes[i*r.Width+b]) << (8 * (4 - r.Width + b))
		}
	}
	return writeLittle(file, []uint64{uint64(m.Length), uint64(m.Columns()), uint64(r.Count)}, matrix, words)
}

// differentWords counts the words of a file that are not ours.
func differentWords(file string, ours []uint32) (float64, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0, err
	}
	if len(b) != 4*len(ours) {
		return 0, fmt.Errorf("%d bytes of a result, want %d", len(b), 4*len(ours))
	}
	different := 0.0
	for i, v := range ours {
		if binary.LittleEndian.Uint32(b[4*i:]) != v {
			different++
		}
	}
	return different, nil
}
