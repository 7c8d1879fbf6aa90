package client

import "math/bits"

// sortSlots sorts by key, ties by name, with a network of comparisons that depends on the number
// of slots alone: Batcher's merge exchange, as Knuth has it (The Art of Computer Programming,
// volume 3, 5.2.2, algorithm M).
func sortSlots(s []slot) {
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

// exchange puts the lesser of two slots first, without a branch.
func exchange(a, b *slot) {
	_, borrow := bits.Sub64(uint64(b.name), uint64(a.name), 0)
	_, borrow = bits.Sub64(b.key, a.key, borrow)
	swap := -borrow
	key, name, id := swap&(a.key^b.key), uint32(swap)&(a.name^b.name), uint32(swap)&(a.id^b.id)
	a.key, b.key = a.key^key, b.key^key
	a.name, b.name = a.name^name, b.name^name
	a.id, b.id = a.id^id, b.id^id
}
