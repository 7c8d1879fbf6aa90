package simd

import "math"

// BlockPoints is how many points a block has: block b is points b*BlockPoints up to the
// next block.
const BlockPoints = 8

// FindInBlocks finds the points of some blocks that are within a distance of one point: those
// whose d2, which is that of FindNear, is at most r2. It skips blocks whose boxes are farther
// away.
//
// boxes are the boxes of the blocks, collected by Collect as if they were points of twice as
// many dimensions: first the least coordinates of a block, then the largest. A point outside
// of the box of its block may not be found. The points of a block are in coords as for
// Collect. A block with fewer points has NaN in place of the missing ones. A NaN is never
// near, nor is a box of NaNs.
//
// FindInBlocks writes the points found to ind, in the order of their blocks, and their d2,
// and returns how many they are. ind and d2 need room for all points of all blocks and
// CoordinatePad more numbers, which may be overwritten. FindInBlocks panics where a slice is
// too short. It allocates nothing, and has the same bits at every level. It uses scratch
// memory in boxes, so each concurrent call needs its own.
func (s *Kernels) FindInBlocks(ind []uint32, d2 []float64, boxes *Candidates, coords Rows[float32], point int, r2 float64) int {
	d := boxes.d / 2
	if boxes.d%2 != 0 {
		panic("simd: find in blocks: odd number of box sides")
	}
	if boxes.n == 0 || d == 0 {
		return 0
	}
	end := BlockPoints * boxes.end
	if point < 0 || point >= coords.Stride || end > coords.Stride || !coords.holds(d, max(end, point+1)) {
		panic("simd: find in blocks: points beyond the coordinates")
	}
	if need := BlockPoints*boxes.n + CoordinatePad; len(ind) < need || len(d2) < need {
		panic("simd: find in blocks: short destination")
	}
	total := s.findInBlocks(ind, d2, boxes, coords, point, r2)
	writes(ind[:total])
	writes(d2[:total])
	return total
}

// findInBlocksGo is the reference.
func findInBlocksGo(ind []uint32, d2 []float64, boxes *Candidates, coords Rows[float32], point int, r2 float64) int {
	total, d := 0, boxes.d/2
	for b, block := range boxes.ind[:boxes.n] {
		sum := 0.0
		for a := range d {
			x := float64(coords.Data[a*coords.Stride+point])
			e := math.Max(0, math.Max(boxes.at[a*boxes.stride+b]-x, x-boxes.at[(d+a)*boxes.stride+b]))
			sum += float64(e * e)
		}
		if !(sum <= r2) {
			continue
		}
		for j := int(block) * BlockPoints; j < (int(block)+1)*BlockPoints; j++ {
			sum := 0.0
			for at := 0; at < d*coords.Stride; at += coords.Stride {
				e := float64(coords.Data[at+point]) - float64(coords.Data[at+j])
				sum += float64(e * e)
			}
			ind[total], d2[total] = uint32(j), sum
			if sum <= r2 {
				total++
			}
		}
	}
	return total
}
