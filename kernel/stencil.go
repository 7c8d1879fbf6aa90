package kernel

import "sort"

// stencil finds the occupied cells around a cell, one range for each row of
// cells along the last grid axis. Cells must be asked for in ascending order,
// for then the ranges only ever move forward.
type stencil struct {
	cl     *cellList
	reach  int64
	cursor []int // where each row's search goes on; -1 before the first
}

func newStencil(cl *cellList, reach int64) *stencil {
	side := 2*reach + 1
	s := &stencil{cl: cl, reach: reach, cursor: make([]int, side*side)}
	s.restart()
	return s
}

// restart begins another sequence of cells.
func (s *stencil) restart() {
	for i := range s.cursor {
		s.cursor[i] = -1
	}
}

// around calls visit with each range [from, to) of occupied cells that are
// within reach of the given one, in ascending order, with the offset of their
// row in cells along the slower two grid axes.
func (s *stencil) around(cell int, visit func(from, to int, da, db int64)) {
	cl := s.cl
	at := cl.coordinates(cl.keys[cell])
	last := len(cl.axes) - 1
	fast := at[last]
	lo, hi := max(fast-s.reach, 0), min(fast+s.reach, cl.size[last]-1)
	// With fewer than three grid axes the slower ones have one cell each.
	ra, rb := int64(0), int64(0)
	if last >= 1 {
		ra = s.reach
	}
	if last >= 2 {
		rb = s.reach
	}
	for da := -ra; da <= ra; da++ {
		for db := -rb; db <= rb; db++ {
			base := uint64(0)
			inside := true
			offset := [2]int64{da, db}
			for i := range last {
				c := at[i] + offset[i]
				inside = inside && c >= 0 && c < cl.size[i]
				base = base*uint64(cl.size[i]) + uint64(c)
			}
			if !inside {
				continue
			}
			base *= uint64(cl.size[last])
			cursor := &s.cursor[(da+s.reach)*(2*s.reach+1)+db+s.reach]
			least, most := base+uint64(lo), base+uint64(hi)
			if *cursor < 0 {
				*cursor = sort.Search(len(cl.keys), func(i int) bool { return cl.keys[i] >= least })
			}
			for *cursor < len(cl.keys) && cl.keys[*cursor] < least {
				*cursor++
			}
			to := *cursor
			for to < len(cl.keys) && cl.keys[to] <= most {
				to++
			}
			if to > *cursor {
				visit(*cursor, to, da, db)
			}
		}
	}
}
