package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

// transfers makes ranks gather and exchange random numbers of words, from none to many, one
// call after the other, and checks every word. All links give the same results.
func transfers(ctx context.Context, r *par.Ranks, rounds, most int) error {
	draw := rand.New(rand.NewPCG(1, 2)) // the same on all ranks
	length := func() int {
		switch draw.IntN(4) {
		case 0:
			return 0
		case 1:
			return draw.IntN(most + 1)
		}
		return draw.IntN(20)
	}
	for round := range rounds {
		value := func(from, to, i int) uint32 { return uint32(((round*17+from)*17+to)*1000003 + i) }
		fill := func(s []uint32, from, to int) []uint32 {
			for i := range s {
				s[i] = value(from, to, i)
			}
			return s
		}
		bounds := []int{draw.IntN(3)}
		for range r.Size() {
			bounds = append(bounds, bounds[len(bounds)-1]+length())
		}
		data, want := make([]uint32, bounds[r.Size()]+2), make([]uint32, bounds[r.Size()]+2)
		for from := range r.Size() {
			fill(want[bounds[from]:bounds[from+1]], from, 0)
		}
		fill(data[bounds[r.Rank()]:bounds[r.Rank()+1]], r.Rank(), 0)
		if err := exchange.Gather(ctx, r, data, bounds); err != nil {
			return err
		}
		if !slices.Equal(data, want) {
			return fmt.Errorf("round %d: rank %d gathered other words by %v", round, r.Rank(), bounds)
		}

		out, in, sent := make([][]uint32, r.Size()), make([][]uint32, r.Size()), make([][]uint32, r.Size())
		for from := range r.Size() {
			for to := range r.Size() {
				n := length()
				switch {
				case from == to:
				case from == r.Rank():
					out[to] = fill(make([]uint32, n), from, to)
				case to == r.Rank():
					in[from], sent[from] = make([]uint32, n), fill(make([]uint32, n), from, to)
				}
			}
		}
		wait, err := exchange.Begin(ctx, r, out, in)
		if err != nil {
			return err
		}
		if compute(round%3*100000) < 0 {
			return errors.New("a sum of numbers from 0 is negative")
		}
		if err := wait(ctx); err != nil {
			return err
		}
		for from := range in {
			if !slices.Equal(in[from], sent[from]) {
				return fmt.Errorf("round %d: rank %d received other words from rank %d", round, r.Rank(), from)
			}
		}

		own := bytes.Repeat([]byte{byte(r.Rank())}, (round+r.Rank())%5)
		all, _, err := exchange.GatherAll(ctx, r, own)
		if err != nil {
			return err
		}
		for from := range r.Size() {
			if bytes.Count(all, []byte{byte(from)}) != (round+from)%5 || !slices.IsSorted(all) {
				return fmt.Errorf("round %d: rank %d has %v of all", round, r.Rank(), all)
			}
		}
	}
	return nil
}

// compute keeps a processor busy while bytes travel.
func compute(steps int) (sum float64) {
	for i := range steps {
		sum += float64(i)
	}
	return sum
}

func TestLocalTransfers(t *testing.T) {
	for _, size := range []int{1, 2, 5} {
		if err := Local(size, func(r *par.Ranks) error { return transfers(t.Context(), r, 30, 3000) }); err != nil {
			t.Error(err)
		}
	}
}
