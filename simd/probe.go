package simd

import (
	"math"
	"math/rand/v2"
	"sync"
	"time"
)

// gathersChosen tells whether kernels gather at the levels that can: as PM_SIMD asks, or as
// the probe finds where it does not.
func (s setting) gathersChosen(probed func() bool) bool {
	if s.gather == noWish {
		return probed()
	}
	return s.gather == wishOn
}

// probed times the loops that gather against those that load, once in the life of a
// process. Features of a processor do not tell which are faster: those from Skylake to Ice
// Lake gather several times slower since their microcode closes Gather Data Sampling, and
// those of AMD are slow at it by design. All levels with gathers have the same loops for
// the products, so those of AVX512 stand for them.
var probed = sync.OnceValue(func() bool {
	gather, load := tableOf(AVX512, true), tableOf(AVX512, false)
	p := newProbe()
	for range probeTries - 1 {
		if a, b := p.times(gather, load); gathersPay(a, b) || clearlyLoads(a, b) {
			return gathersPay(a, b)
		}
	}
	return gathersPay(p.times(gather, load))
})

// clearlyLoads tells whether loads win by so much that noise cannot be the cause. Where
// gathers are slow they take several times as long; where they are fast, something else on
// the same core makes loads look a little better now and then.
func clearlyLoads(gather, load time.Duration) bool { return gather <= 0 || gather > 2*load }

// gathersPay decides by the least times of the two kinds of loops, whatever else ran
// between. Loads are taken where they save a tenth of the time or more, and where the clock
// is too coarse to tell: they are never several times slower. Gathers are taken otherwise.
// Where they are fast the two forms are close, and a tenth keeps the choice from changing
// between processes but for a few.
func gathersPay(gather, load time.Duration) bool {
	return gather > 0 && 10*gather <= 11*load
}

// A probe is a product that fits into the first-level cache: a matrix with rows of about
// 32 entries, and two columns.
type probe struct {
	lengths []int // of the rows, in another order each round
	random  *rand.Rand
	ptr     []uint64
	ind     []uint32
	val     []float32
	x, dst  []float32
}

const (
	probeRows   = 16
	probeRow    = 32  // entries
	probePoints = 512 // rows of x
	probeRounds = 8
	probeTries  = 8 // of so many rounds each, as long as loads win by little
)

func newProbe() *probe {
	p := &probe{
		random: rand.New(rand.NewPCG(1, 2)), ptr: make([]uint64, probeRows+1),
		ind: make([]uint32, probeRows*probeRow), val: make([]float32, probeRows*probeRow),
		x: make([]float32, 2*probePoints), dst: make([]float32, 2*probeRows),
	}
	for r := range probeRows / 2 {
		p.lengths = append(p.lengths, probeRow-r, probeRow+r)
	}
	for i := range p.ind {
		p.ind[i] = uint32((i/probeRow*89 + i%probeRow*6) % probePoints)
		p.val[i] = 1
	}
	return p
}

// shuffle gives the rows another order. A processor that has learnt where rows end would
// be timed as none is that multiplies a matrix once.
func (p *probe) shuffle() {
	p.random.Shuffle(len(p.lengths), func(i, j int) { p.lengths[i], p.lengths[j] = p.lengths[j], p.lengths[i] })
	for r, n := range p.lengths {
		p.ptr[r+1] = p.ptr[r] + uint64(n)
	}
}

// run multiplies one column and then two, which are the widths with gathers.
func (p *probe) run(s *Kernels) time.Duration {
	from := time.Now()
	s.mulSparse(RowsOf(p.dst, 1), 1, p.ptr, p.ind, p.val, RowsOf(p.x, 1))
	s.mulSparse(RowsOf(p.dst, 2), 2, p.ptr, p.ind, p.val, RowsOf(p.x, 2))
	return time.Since(from)
}

// times returns the least times of two tables, which take turns. A run that the operating
// system interrupts decides nothing, nor do the first ones, when a processor may not have
// the voltage for its widest vectors.
func (p *probe) times(a, b *Kernels) (leastA, leastB time.Duration) {
	leastA, leastB = math.MaxInt64, math.MaxInt64
	for range probeRounds {
		p.shuffle()
		leastA, leastB = min(leastA, p.run(a)), min(leastB, p.run(b))
	}
	return leastA, leastB
}
