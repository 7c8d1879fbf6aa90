package client

import (
	"math"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/sametime"
)

// The functions of this file compare a private row with rows of the server, between the answer to
// one request and the next request. No branch and no place in memory depends on the row or on
// distances, and no number is subnormal. For that, numbers of the row below smallestEntry count
// as 0. Then all of them are multiples of 2^-452, differences from numbers of float32 too, and
// squares of these are 0 or at least 2^-904. A rotation, which begins with such numbers, makes
// none below 2^-600 but 0, and what is below smallestEntry after it counts as 0 again.

const smallestEntry = 0x1p-400

// dropSmall sets what is below smallestEntry in size to 0.
func dropSmall(row []float64) {
	for i, v := range row {
		row[i] = sametime.DropSmall(v, smallestEntry)
	}
}

// slotOf returns a row of the gallery at a squared distance that is not NaN.
func slotOf(id uint32, squared float64) sametime.Slot {
	return sametime.Slot{Key: math.Float64bits(squared), Name: id}
}

// slotsOf returns rows, one behind the other, and their numbers at their distances.
func slotsOf(row []float64, ids []uint32, rows []float32) []sametime.Slot {
	out, d := make([]sametime.Slot, 0, len(ids)), len(row)
	for len(ids) >= 4 {
		for i, sum := range fourSquaredDistances(row, rows[:4*d]) {
			out = append(out, slotOf(ids[i], sum))
		}
		ids, rows = ids[4:], rows[4*d:]
	}
	for i, id := range ids {
		out = append(out, slotOf(id, kmeans.SquaredDistance(row, rows[i*d:(i+1)*d])))
	}
	return out
}

// fourSquaredDistances returns what kmeans.SquaredDistance does for each of four rows.
// Their sums do not wait for each other.
func fourSquaredDistances(row []float64, rows []float32) (sums [4]float64) {
	d := len(row)
	r0, r1, r2, r3 := rows[:d], rows[d:][:d], rows[2*d:][:d], rows[3*d:][:d]
	var s0, s1, s2, s3 float64
	for j, v := range row {
		e0, e1, e2, e3 := v-float64(r0[j]), v-float64(r1[j]), v-float64(r2[j]), v-float64(r3[j])
		// The conversions forbid fused products: same bits everywhere.
		s0 += float64(e0 * e0)
		s1 += float64(e1 * e1)
		s2 += float64(e2 * e2)
		s3 += float64(e3 * e3)
	}
	return [4]float64{s0, s1, s2, s3}
}

// merged returns the slots of runs, each with rising names, in the order of names. A name that is
// in several runs has its least key. Names, which are public, decide about every step.
func merged(runs [][]sametime.Slot) []sametime.Slot {
	switch len(runs) {
	case 0:
		return nil
	case 1:
		return runs[0]
	}
	a, b := merged(runs[:len(runs)/2]), merged(runs[len(runs)/2:])
	out := make([]sametime.Slot, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch x, y := a[0], b[0]; {
		case x.Name < y.Name:
			out, a = append(out, x), a[1:]
		case x.Name > y.Name:
			out, b = append(out, y), b[1:]
		default:
			x.Key = sametime.Choose(sametime.Less(x.Key, y.Key), x.Key, y.Key)
			out, a, b = append(out, x), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// matches returns slots as matches.
func matches(slots []sametime.Slot) []Match {
	out := make([]Match, len(slots))
	for i, s := range slots {
		out[i] = Match{ID: int64(s.Name), Distance: math.Sqrt(math.Float64frombits(s.Key))}
	}
	return out
}
