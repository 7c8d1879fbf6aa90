package kernel

import (
	"context"
	"slices"
)

// Components returns the sizes of the parts of the graph that no weight connects, the
// largest first. A point without neighbours and equals is no part.
func (op *truncated) Components(ctx context.Context) ([]int, error) {
	parent := make([]uint32, op.rows.Rows())
	for i := range parent {
		parent[i] = uint32(i)
	}
	root := func(i uint32) uint32 {
		for parent[i] != i {
			parent[i] = parent[parent[i]]
			i = parent[i]
		}
		return i
	}
	reader := op.rows.reader(1)
	for i := range parent {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		ind, _ := reader.row(i)
		at := root(uint32(i))
		for _, j := range ind {
			if j >= uint32(i) {
				break // j has the pair, too
			}
			other := root(j)
			at, parent[max(at, other)] = min(at, other), min(at, other)
		}
	}
	size := make(map[uint32]int)
	for i := range parent {
		size[root(uint32(i))] += op.first(i+1) - op.first(i)
	}
	var sizes []int
	for _, s := range size {
		if s > 1 {
			sizes = append(sizes, s)
		}
	}
	slices.Sort(sizes)
	slices.Reverse(sizes)
	return sizes, nil
}
