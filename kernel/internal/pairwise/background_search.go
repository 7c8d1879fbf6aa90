package pairwise

import (
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/split"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/distance"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// backgroundSearch visits all pairs of rows once, block against block, and
// counts those within the radius or, when next is set, stores them. The blocks
// of a round belong to one game each, so rows have one writer.
type backgroundSearch struct {
	q        *distance.Distancer
	unit     *distance.UnitWeights
	radius2  float64
	limit    float64 // a pair is beyond the radius for certain if its distance in the scratch is above it
	constant float64
	nullNear bool // the null record is within the radius of everybody
	blocks   distance.Tournament
	round    int
	scratch  []*distance.DistanceScratch
	counts   []uint64 // counts[i+1] is that of row i
	next     []uint64 // where each row's next entry goes
	ind      []uint32
	val      []float64
}

func newBackgroundSearch(ctx context.Context, unitRows *distance.UnitRows, unit *distance.UnitWeights, radius, weight float64, o *base.Options) (*backgroundSearch, error) {
	n := unitRows.N()
	q, err := distance.NewUnitDistancer(ctx, unitRows.Points(), o.Workers, o.Kernels)
	if err != nil {
		return nil, err
	}
	s := &backgroundSearch{
		q: q, unit: unit, constant: weight,
		radius2: rows.RadiusSquared(radius), limit: math.Inf(1), nullNear: radius >= 1,
		blocks: distance.Tournament{Blocks: split.Blocks(n, distance.BlockRows)}, scratch: make([]*distance.DistanceScratch, o.Workers.Count()), counts: make([]uint64, n+1),
	}
	if s.radius2 < 4 {
		// The distance in the scratch is off by at most (4 d + 8) 2^-53 (entryRel) and the
		// distance by differences, which decides, by (d + 2) 2^-53 of at most 4.
		s.limit = s.radius2 + float64(8*unitRows.Dim()+32)*0x1p-53
	}
	return s, nil
}

func (s *backgroundSearch) run(ctx context.Context, o *base.Options, stage string) error {
	return s.blocks.Play(ctx, o.Workers, s, &s.round, o.Stage(stage, s.blocks.Rounds()))
}

// allocate turns the counts into row pointers, which it returns, and allocates
// the entries if the memory limit allows.
func (s *backgroundSearch) allocate(held int64, o *base.Options) (ptr []uint64, err error) {
	ptr = s.counts
	for i := 1; i < len(ptr); i++ {
		ptr[i] += ptr[i-1]
	}
	nnz := ptr[len(ptr)-1]
	need := mem.Saturate(backgroundEntry*float64(nnz) + float64(held))
	if nnz > math.MaxInt/backgroundEntry {
		need = math.MaxInt64
	}
	if err := o.Take("build background", need); err != nil {
		base.Advise(err, "a smaller radius stores fewer; the operator dense stores none")
		return nil, err
	}
	s.next = slices.Clone(ptr[:len(ptr)-1])
	s.ind, s.val = make([]uint32, nnz), make([]float64, nnz)
	return ptr, nil
}

// Run plays one game.
func (s *backgroundSearch) Run(worker, game int) {
	a, b, ok := s.blocks.Game(s.round, game)
	if !ok {
		return
	}
	if s.scratch[worker] == nil {
		s.scratch[worker] = distance.NewDistanceScratch(s.q)
	}
	scratch, n := s.scratch[worker], s.q.N
	alo, ahi := split.Block(a, n, distance.BlockRows)
	blo, bhi := split.Block(b, n, distance.BlockRows)
	s.q.Fill(scratch, alo, ahi, blo, bhi)
	for i := alo; i < ahi; i++ {
		first := blo
		if a == b {
			first = i + 1 // every pair once
		}
		d2 := scratch.D2[(i-alo)*scratch.Stride:]
		for j := first; j < bhi; j++ {
			if d2[j-blo] > s.limit && i != s.unit.Null && j != s.unit.Null {
				continue
			}
			w, near := s.weigh(i, j)
			switch {
			case !near:
			case s.next == nil:
				s.counts[i+1]++
				s.counts[j+1]++
			default:
				s.put(i, j, w-s.constant)
				s.put(j, i, w-s.constant)
			}
		}
	}
}

// weigh decides whether rows i and j are within the radius, by a distance that
// has the same bits for (j, i), and returns their weight if they are.
func (s *backgroundSearch) weigh(i, j int) (w float64, near bool) {
	if i == s.unit.Null || j == s.unit.Null {
		return s.unit.Rho, s.nullNear
	}
	d2 := min(s.q.Exact(i, j), 4)
	if d2 > s.radius2 {
		return 0, false
	}
	return max(s.unit.At(d2), s.constant), true
}

func (s *backgroundSearch) put(row, column int, v float64) {
	at := s.next[row]
	s.ind[at], s.val[at] = uint32(column), v
	s.next[row]++
}
