//go:build (amd64 || arm64) && gc && !noasm && !purego

package simd

// A mulWordsKernel is an assembly function for some groups of 16 rows and a block of pieces.
type mulWordsKernel func(sums *uint32, stride uintptr, panel *int8, group, depth uintptr, packed *uint32, pieces *[2]uint32, ahead *int8)

// A mulWordsLoop is the loop of a level with vectors.
type mulWordsLoop struct {
	layout wordLayout
	groups int              // the number that tall takes
	tall   []mulWordsKernel // by half the number of pieces, from two on
	single []mulWordsKernel // for one group, where tall takes more
}

// deepest is the number of places of a panel that are multiplied with all pieces before the
// next places. The places of 64 rows, or of 32 where tiles multiply, stay in the
// first-level cache.
const deepest = 512

func (m *mulWordsLoop) run(sums []uint32, stride int, panel []int8, rows int, w *Words) {
	m.runDeep(sums, stride, panel, rows, w, deepest)
}

// runDeep takes up to deepest places of the panel at a time.
func (m *mulWordsLoop) runDeep(sums []uint32, stride int, panel []int8, rows int, w *Words, deepest int) {
	most, group := m.layout.most, 16*w.depth
	for t := 0; t < w.depth; t += deepest {
		depth := min(deepest, w.depth-t)
		for row := 0; row < rows; {
			kernels, groups := m.single, 1
			if rows-row >= 16*m.groups {
				kernels, groups = m.tall, m.groups
			}
			from := row*w.depth + 16*t
			nextRow, nextT := row+16*groups, t
			if nextRow == rows {
				nextRow, nextT = 0, t+depth
			}
			for first := 0; first < len(w.pieces); first += most {
				pieces := min(most, len(w.pieces)-first)
				// While a block of pieces is multiplied, one of the next groups is prefetched.
				ahead := from
				if fetched := nextRow + 16*(first/most); first < groups*most && fetched < rows && nextT < w.depth {
					ahead = fetched*w.depth + 16*nextT
				}
				kernels[pieces/2-1](&sums[row], uintptr(stride), &panel[from], uintptr(group), uintptr(depth),
					&w.packed[m.layout.at(w, first, pieces, t)], &w.pieces[first], &panel[ahead])
			}
			row += 16 * groups
		}
	}
}
