package mem

import "testing"

// Huge changes no number, for slices of any size and place.
func TestHugeKeepsTheNumbers(t *testing.T) {
	Huge[uint16](nil)
	Huge(make([]struct{}, 5))
	for _, n := range []int{1, 1 << 20, 5<<20/8 + 3, 3 << 20} {
		s := make([]uint64, n)
		Huge(s[1:])
		for i := range s {
			s[i] = uint64(i)
		}
		Huge(s)
		for i, v := range s {
			if v != uint64(i) {
				t.Fatalf("%d of %d numbers: %d", i, n, v)
			}
		}
	}
}
