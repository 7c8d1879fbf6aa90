package simd

import (
	"slices"
	"testing"
)

func TestLevelNames(t *testing.T) {
	for l := Generic; l <= NEON; l++ {
		got, ok := levelByName(l.String())
		if !ok || got != l {
			t.Errorf("levelByName(%q) = %v, %v", l, got, ok)
		}
	}
	if _, ok := levelByName("sse2"); ok {
		t.Error("sse2 is a level")
	}
	if got := Level(9).String(); got != "Level(9)" {
		t.Error(got)
	}
}

func TestAt(t *testing.T) {
	levels := Levels()
	if levels[0] != Generic || levels[len(levels)-1] != Best() {
		t.Errorf("levels %v, best %v", levels, Best())
	}
	for l := Generic - 1; l <= NEON+1; l++ {
		got := At(l).Level()
		if slices.Contains(levels, l) {
			if got != l {
				t.Errorf("At(%v) is of level %v", l, got)
			}
		} else if !slices.Contains(levels, got) {
			t.Errorf("At(%v) is of level %v, which this machine does not have", l, got)
		}
	}
	if Best() > host() {
		t.Errorf("best %v is above %v", Best(), host())
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	const n, k = 50, 19
	ptr, ind := make([]uint64, n+1), make([]uint32, n)
	for i := range ind {
		ptr[i+1] = uint64(i + 1)
	}
	single, wide := make([]float32, n*k), make([]float64, n*k)
	x, out := make([]float32, n*k), make([]uint32, 2+CoordinatePad)
	finish := &StepFinish{Mean: wide[:k], Weight: wide, Extra: wide, Target: wide, Class: make([]float64, k)}
	packed := *finish
	packed.Mean = wide[:2]
	slots := make([]uint32, n)
	spans, counts := []uint32{0, 2}, make([]uint32, 1)
	candidates := NewCandidates(1, 2)
	mask, bytes, panel, bias := make([]uint64, 17), make([]int8, 17*64), make([]uint8, 64*64), make([]int32, 64)
	words, sums := make([]uint32, 3*64), make([]uint32, 3*48)
	for _, s := range All() {
		var columns Words
		s.PackWords(&columns, words, 64, 3)
		if got := testing.AllocsPerRun(10, func() {
			s.SumSparse(wide[:n], ptr, x[:n])
			s.MulSparse(RowsOf(single, k), k, ptr, ind, x[:n], RowsOf(x, k))
			s.expNeg(single, x)
			s.Weights(single[:n], wide[:n], 1)
			s.Collect(candidates, RowsOf(x, 2), spans)
			s.FindNear(out, wide, counts, candidates, RowsOf(x, 2), 1, 1)
			s.CountNear(counts, candidates, RowsOf(x, 2), 1, 1)
			s.FinishStep(finish, RowsOf(single, k), RowsOf(x, k), x, wide, slots)
			s.FinishStep(&packed, RowsOf(single, 2), RowsOf(x, 2), x, wide, slots)
			s.Dots(RowsOf(single, 3), RowsOf(x, k), RowsOf(x, k), 3, 3, k)
			s.Dots64(RowsOf(wide, 3), RowsOf(wide[9:], k), RowsOf(wide[9:], k), 3, 3, k)
			s.DotsToSqDists64(wide[:n], 1, wide[n:][:n])
			s.Weights64(wide[:n], wide[:n], 1, 0, 700)
			s.WeightedSums64(RowsOf(wide, 8), RowsOf(wide[100:], 8), RowsOf(wide[200:], 8), 2, 8, 8)
			s.WeightedSumsTrans64(RowsOf(wide, 8), RowsOf(wide[100:], 8), RowsOf(wide[200:], 8), 2, 8, 8)
			s.AddMoments(wide, RowsOf(wide, 2), wide[:2], 2)
			s.QuadraticForms(wide[:2], RowsOf(wide[2:], 2), wide[2:4], wide[2:18])
			s.SqDists(single, x[:k], RowsOf(x, k), ind, 1)
			s.ByteDotsAbove(mask, bytes, panel, 64, bias, bias[:17])
			s.PackWords(&columns, words, 64, 3)
			s.MulWords(sums, 16, bytes, 16, &columns)
			s.WordDots(sums, words, words, 64)
			s.MulTrans(RowsOf(single, k), RowsOf(x, 1), RowsOf(x, k), 1, 3, k)
			s.Centre(RowsOf(single, k), RowsOf(x, k), 3, x[:k], 1)
			s.CentredMulTrans(RowsOf(single, k), RowsOf(x, 1), RowsOf(x, k), 1, 3, x[:k], 1)
			s.CentredDots(RowsOf(single, 3), RowsOf(x, k), RowsOf(x, k), 1, 3, x[:k], 1)
			s.AddRows(wide[:n], wide[:2], RowsOf(wide, n))
			s.LagrangeBasis(wide[:16], wide[:8], wide[:2], wide[:2])
			s.PointsToNodes(wide[:4], wide[:16], wide[:16], wide[:8])
			s.NodesToPoints(wide[:8], wide[:16], wide[:16], wide[:4], 8)
		}); got != 0 {
			t.Errorf("%v: %v allocations", s, got)
		}
	}
}
