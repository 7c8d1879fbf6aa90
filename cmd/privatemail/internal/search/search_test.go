package search

import (
	"errors"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The copy of the gallery that a search makes is within the memory limit.
func TestSearchCountsItsCopy(t *testing.T) {
	rows := blas32.General{Rows: 1000, Cols: 100, Stride: 100, Data: make([]float32, 100_000)}
	const own = 1000*1*8 + 1000*1*16 + 1000*(4*100+16)
	for limit, want := range map[int64]error{own: kernel.ErrMemory, own + 1: nil} {
		s := &search{flags: &searchFlags{k: 1, self: true, work: settings.Work{MaxMemory: limit}}, gallery: rowSide{x: rows}, queries: rowSide{x: rows}}
		if err := s.prepare(t.Context()); !errors.Is(err, want) {
			t.Errorf("limit %d: %v, want %v", limit, err, want)
		}
	}
}
