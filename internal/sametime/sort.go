package sametime

import "math/bits"

// A Slot is an item to sort, by Key, and by Name if keys are equal.
type Slot struct {
	Key      uint64
	Name, ID uint32
}

// Sort sorts with a network of comparisons that depends only on the number of slots: Batcher's
// merge exchange, as in Knuth (The Art of Computer Programming, volume 3, 5.2.2, algorithm M).
func Sort(s []Slot) {
	if len(s) < 2 {
		return
	}
	top := 1 << (bits.Len(uint(len(s)-1)) - 1)
	for p := top; p > 0; p /= 2 {
		for q, r, d := top, 0, p; ; q, r, d = q/2, p, q-p {
			for i := range len(s) - d {
				if i&p == r {
					exchange(&s[i], &s[i+d])
				}
			}
			if q == p {
				break
			}
		}
	}
}

// exchange puts the smaller of two slots first, without a branch.
func exchange(a, b *Slot) {
	_, borrow := bits.Sub64(uint64(b.Name), uint64(a.Name), 0)
	_, borrow = bits.Sub64(b.Key, a.Key, borrow)
	swap := -borrow
	key, name, id := swap&(a.Key^b.Key), uint32(swap)&(a.Name^b.Name), uint32(swap)&(a.ID^b.ID)
	a.Key, b.Key = a.Key^key, b.Key^key
	a.Name, b.Name = a.Name^name, b.Name^name
	a.ID, b.ID = a.ID^id, b.ID^id
}

// Least returns the k smallest slots, sorted, or all of them if there are no more. It
// overwrites slots. Its time depends only on len(slots) and k.
func Least(slots []Slot, k int) []Slot {
	const few = 8 // the least number of slots handled together
	step := max(min(k, len(slots)), few)
	best := slots[:0]
	together := make([]Slot, 0, 2*step)
	for from := 0; from < len(slots); from += step {
		together = append(append(together[:0], best...), slots[from:min(from+step, len(slots))]...)
		Sort(together)
		best = append(slots[:0], together[:min(k, len(together))]...)
	}
	return best
}
