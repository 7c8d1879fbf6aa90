package cluster

import (
	"math/rand/v2"
	"testing"
)

// Ranks that make the same calls never differ, however far one is ahead. A call of another
// kind or with other numbers is noticed once both ranks have made it, and from then on.
func TestCallsDiffer(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var own, other, wrong calls
		block := make([]byte, callBytes)
		at := draw.IntN(3000)
		for i := range at + 1 + draw.IntN(100) {
			what, numbers := kind(1+draw.IntN(2)), []int{draw.IntN(3), draw.IntN(3)}
			own.add(what, numbers)
			if other.put(block); own.differs(block) {
				t.Fatalf("call %d of the same calls differs from an earlier one", i)
			}
			if own.put(block); other.differs(block) {
				t.Fatalf("call %d of the same calls differs from a later one", i)
			}
			other.add(what, numbers)
			switch {
			case i != at:
				wrong.add(what, numbers)
			case draw.IntN(2) == 0:
				wrong.add(ending, nil)
			default:
				wrong.add(what, []int{numbers[0], numbers[1] + 1})
			}
			if wrong.put(block); own.differs(block) != (i >= at) {
				t.Fatalf("call %d, and the wrong one is %d: %v", i, at, own.differs(block))
			}
		}
	}
}

// Calls made long ago are forgotten: they never count as different.
func TestCallsOfLongAgo(t *testing.T) {
	var own, other calls
	block := make([]byte, callBytes)
	other.add(ending, nil)
	other.put(block)
	for range len(own.marks) {
		own.add(gathering, nil)
		if !own.differs(block) {
			t.Fatalf("call %d", own.count)
		}
	}
	if own.add(gathering, nil); own.differs(block) {
		t.Error("a forgotten call counts as different")
	}
}
