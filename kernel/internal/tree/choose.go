package tree

import "slices"

// choose moves the smallest keys, as many as given, to the front. No two keys are equal,
// and the order is the same at every call.
func choose(keys []uint64, count int) {
	lo, hi := 0, len(keys) // the border is between them
	for lo < count && count < hi {
		if hi-lo <= fewKeys {
			sortFew(keys[lo:hi])
			return
		}
		mid := splitAt(keys[lo:hi], pivot(keys[lo:hi], count-lo)) + lo
		if mid <= count {
			lo = mid
		} else {
			hi = mid
		}
	}
}

const (
	fewKeys   = 12  // that are sorted
	manyKeys  = 200 // from which a larger sample pays
	sampled   = 3
	sampledOf = 25 // of manyKeys
)

// pivot returns a key whose place among the sorted keys is near to the given one, on its
// farther side, so that the border is found in the smaller part.
func pivot(keys []uint64, place int) uint64 {
	var sample [sampledOf]uint64
	size := sampled
	if len(keys) >= manyKeys {
		size = sampledOf
	}
	for i := range size {
		sample[i] = keys[(2*i+1)*len(keys)/(2*size)]
	}
	sortFew(sample[:size])
	at := place * size / len(keys)
	if size == sampledOf {
		if 2*place < len(keys) {
			at += 2
		} else {
			at -= 2
		}
	}
	return sample[max(0, min(at, size-1))]
}

// splitAt moves the keys below the pivot, one of them, to the front. It returns how many
// they are, or 1 where there are none: the pivot is the least then. Whether a key is below
// is a coin toss to the branch predictor, so there is no branch on it.
func splitAt(keys []uint64, pivot uint64) int {
	below := 0
	for i, key := range keys {
		keys[i] = keys[below]
		keys[below] = key
		if key < pivot {
			below++
		}
	}
	if below == 0 {
		at := slices.Index(keys, pivot)
		keys[0], keys[at] = keys[at], keys[0]
		return 1
	}
	return below
}

// sortFew sorts a few keys.
func sortFew(keys []uint64) {
	for i := 1; i < len(keys); i++ {
		key := keys[i]
		j := i
		for ; j > 0 && keys[j-1] > key; j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = key
	}
}
