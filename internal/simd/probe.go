package simd

import (
	"math/rand/v2"
	"sync"
	"time"
)

// gathersChosen reports whether kernels gather at the levels that can: as PM_SIMD asks, or
// else as the probe finds.
func (s setting) gathersChosen(probed func() bool) bool {
	if s.gather == noWish {
		return probed()
	}
	return s.gather == wishOn
}

// probed is whether gathers are faster, decided once in the life of a process.
var probed = sync.OnceValue(func() bool { return keptOrMeasured(keeper.Load(), measureGathers) })

// measureGathers times the loops that gather against those that load. The features of a
// processor do not say which are faster: those from Skylake to Ice Lake gather several
// times slower since their microcode prevents Gather Data Sampling, and those of AMD
// gather slowly by design. All levels with gathers have the same loops for the products,
// so those of AVX512 are measured.
func measureGathers() (gathers, clear bool) {
	gather, load := tableOf(AVX512, true), tableOf(AVX512, false)
	p := newProbe()
	for range probeWarmUp {
		p.round(gather, load)
	}
	end := time.Now().Add(probeTime)
	return decide(func() bool { return gathersPay(p.round(gather, load)) }, func() bool { return time.Now().Before(end) })
}

// decide runs rounds, each won by gathers or by loads, until one of them is clearly ahead:
// by five standard deviations of the lead in tosses of a fair coin. If time runs out first,
// the two forms are close and gathers are taken. A round that the operating system
// interrupts is one of many.
func decide(round, goOn func() bool) (gathers, clear bool) {
	lead := 0
	for n := 1; n <= probeRounds; n++ {
		if round() {
			lead++
		} else {
			lead--
		}
		if n%probeLook > 0 {
			continue
		}
		if lead*lead >= 25*n {
			return lead > 0, true
		}
		if !goOn() {
			break
		}
	}
	return true, false
}

// gathersPay reports whether gathers are as good as loads by the times of one round. They are
// if they take at most 1.15 times as long, the limit of suite levels of pmbench for a chosen
// loop: beyond the cache they do better than here. Loads win where the clock is too coarse,
// since they are never several times slower.
func gathersPay(gather, load time.Duration) bool {
	return gather > 0 && 100*gather <= 115*load
}

// A probe is a product that fits into the first-level cache: a matrix with rows of about
// 32 entries, and two columns.
type probe struct {
	lengths []int // of the rows, in a new order each round
	random  *rand.Rand
	ptr     []uint64
	ind     []uint32
	val     []float32
	x, dst  []float32
	odd     bool // the round is odd: loads come first
}

const (
	probeRows   = 16
	probeRow    = 32  // entries
	probePoints = 512 // rows of x
	probeWarmUp = 8   // rounds, while a processor may lack the voltage for its widest vectors
	probeLook   = 64  // rounds between two checks of the lead, a few microseconds each
	// The whole time is needed only where the forms are close.
	probeTime   = 5 * time.Millisecond
	probeRounds = 1 << 14 // whatever the clock says
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

// shuffle changes the order of the rows. Otherwise the processor would learn where rows
// end, which it cannot when it multiplies a matrix once.
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

// round returns the times of two tables, which take turns to go first.
func (p *probe) round(a, b *Kernels) (timeA, timeB time.Duration) {
	p.shuffle()
	if p.odd = !p.odd; p.odd {
		timeB = p.run(b)
		return p.run(a), timeB
	}
	timeA = p.run(a)
	return timeA, p.run(b)
}
