package server

import (
	"cmp"
	"context"
	"encoding/binary"
	"hash/maphash"
	"math"
	"slices"
	"sort"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
)

// enoughCopies is how many equal rows a list takes for the sake of nearness. A client
// that gets that many and wants no more matches is no better off with others like them.
const enoughCopies = 128

// joinBlock is how many rows a worker takes at a time.
const joinBlock = 256

// A joining adds the rows that are in no list to lists. All answers are as long as the
// longest list, so it keeps the longest one short:
//
//   - A row joins the list of the nearest centre whose list is not full. Where more rows
//     want to join a list than it has room for, those nearest to its centre do.
//   - A row with enoughCopies equals in the list of its nearest centre goes where lists
//     are shortest.
//
// Rows are equal if they are so both in the space of the cells and as they are sent.
// Every row is in some list in the end.
type joining[M points.Matrix] struct {
	x       M // the space of the cells, n x d
	n, d    int
	sent    []float32 // the rows that are sent, one behind the other
	centres []float32
	lists   [][]uint32
	workers *par.Workers
	// displaced counts the rows that found the list of their nearest centre full.
	displaced int
}

// An applicant is a row that wants to join the list of a cell.
type applicant struct {
	cell     int
	distance float64 // from the centre of the cell, squared
	row      uint32
}

// run joins all rows. A list is full at twice the length that lists should have, which
// few galleries reach, or at the mean length where cells are so few that it is more.
func (j *joining[M]) run(ctx context.Context, length int) error {
	pending := j.unlisted()
	if len(pending) == 0 {
		return nil
	}
	places := len(pending)
	for _, list := range j.lists {
		places += len(list)
	}
	full := max(2*length, (places+len(j.lists)-1)/len(j.lists))
	equal, err := j.equalRows(ctx)
	if err != nil {
		return err
	}
	var copies []uint32
	closed := make([]bool, len(j.lists))
	for first := true; len(pending) > 0; first = false {
		groups, err := j.apply(ctx, pending, closed)
		if err != nil {
			return err
		}
		pending = pending[:0]
		for _, group := range groups {
			cell := group[0].cell
			if first {
				group, copies = j.setAside(group, full, equal, copies)
			}
			room := min(len(group), full-len(j.lists[cell]))
			for _, a := range group[:room] {
				j.lists[cell] = append(j.lists[cell], a.row)
			}
			for _, a := range group[room:] {
				pending = append(pending, a.row)
				closed[cell] = true
			}
		}
		if first {
			j.displaced = len(pending)
		}
	}
	j.level(copies)
	return nil
}

// unlisted returns the rows that are in no list.
func (j *joining[M]) unlisted() (rows []uint32) {
	listed := make([]bool, j.n)
	for _, list := range j.lists {
		for _, row := range list {
			listed[row] = true
		}
	}
	for i, in := range listed {
		if !in {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

// apply finds for each row the nearest centre, the lowest among equals, whose cell is
// not closed, and returns the applicants of each cell, the nearest first.
func (j *joining[M]) apply(ctx context.Context, rows []uint32, closed []bool) (groups [][]applicant, err error) {
	all := make([]applicant, len(rows))
	err = j.workers.Do(ctx, split.Blocks(len(rows), joinBlock), par.Func(func(_, block int) {
		v := make([]float64, j.d)
		lo, hi := split.Block(block, len(rows), joinBlock)
		for i := lo; i < hi; i++ {
			points.ReadRow(v, j.x, int(rows[i]))
			best := applicant{distance: math.Inf(1), row: rows[i], cell: slices.Index(closed, false)}
			for c := range closed {
				if closed[c] {
					continue
				}
				if d := kmeans.SquaredDistance(v, j.centres[c*j.d:(c+1)*j.d]); d < best.distance {
					best.cell, best.distance = c, d
				}
			}
			all[i] = best
		}
	}))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b applicant) int {
		return cmp.Or(cmp.Compare(a.cell, b.cell), cmp.Compare(a.distance, b.distance), cmp.Compare(a.row, b.row))
	})
	for len(all) > 0 {
		n := sort.Search(len(all), func(i int) bool { return all[i].cell > all[0].cell })
		groups = append(groups, all[:n])
		all = all[n:]
	}
	return groups, nil
}

// setAside moves those applicants of a cell to copies that have enoughCopies equals in its
// list, or before them where the list has room.
func (j *joining[M]) setAside(group []applicant, full int, equal, copies []uint32) (others []applicant, _ []uint32) {
	list := j.lists[group[0].cell]
	count := make(map[uint32]int, len(group))
	for _, row := range list {
		count[equal[row]]++
	}
	for _, a := range group {
		of := equal[a.row]
		if count[of] >= enoughCopies {
			copies = append(copies, a.row)
			continue
		}
		if len(list)+len(others) < full { // those behind find the list full, and go elsewhere
			count[of]++
		}
		others = append(others, a)
	}
	return others, copies
}

// equalRows returns for each row the number of the first one that is equal to it.
func (j *joining[M]) equalRows(ctx context.Context) ([]uint32, error) {
	hashes, err := j.hashes(ctx)
	if err != nil {
		return nil, err
	}
	order, equal := make([]uint32, j.n), make([]uint32, j.n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(hashes[a], hashes[b]), cmp.Compare(a, b))
	})
	v, w := make([]float64, j.d), make([]float64, j.d)
	var firsts []uint32 // of the rows with one hash
	for i, row := range order {
		if i == 0 || hashes[row] != hashes[order[i-1]] {
			firsts = firsts[:0]
		}
		at := slices.IndexFunc(firsts, func(first uint32) bool {
			points.ReadRow(v, j.x, int(first))
			points.ReadRow(w, j.x, int(row))
			return slices.Equal(v, w) && slices.Equal(j.sentRow(int(first)), j.sentRow(int(row)))
		})
		if at < 0 {
			at = len(firsts)
			firsts = append(firsts, row)
		}
		equal[row] = firsts[at]
	}
	return equal, nil
}

// hashes returns a number for each row, the same for equal rows.
func (j *joining[M]) hashes(ctx context.Context) ([]uint64, error) {
	seed := maphash.MakeSeed() // of candidates only: which rows are equal does not depend on it
	out := make([]uint64, j.n)
	err := j.workers.Do(ctx, split.Blocks(j.n, joinBlock), par.Func(func(_, block int) {
		v := make([]float64, j.d)
		var b []byte
		lo, hi := split.Block(block, j.n, joinBlock)
		for i := lo; i < hi; i++ {
			points.ReadRow(v, j.x, i)
			b = b[:0]
			for _, e := range v {
				b = binary.LittleEndian.AppendUint64(b, math.Float64bits(e+0)) // -0 becomes 0
			}
			for _, e := range j.sentRow(i) {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(e+0))
			}
			out[i] = maphash.Bytes(seed, b)
		}
	}))
	return out, err
}

func (j *joining[M]) sentRow(i int) []float32 {
	d := len(j.sent) / j.n
	return j.sent[i*d : (i+1)*d]
}

// level deals rows out to the shortest lists, each in turn.
func (j *joining[M]) level(rows []uint32) {
	slices.Sort(rows)
	missing := func(length int) (sum int) { // places below a length
		for _, list := range j.lists {
			sum += max(0, length-len(list))
		}
		return sum
	}
	// The first length that all rows fit below, so that they end at it or one short of it.
	length := sort.Search(j.n+1, func(length int) bool { return missing(length) >= len(rows) })
	spare := missing(length) - len(rows)
	for c := len(j.lists) - 1; c >= 0; c-- {
		room := max(0, length-len(j.lists[c]))
		if room > 0 && spare > 0 { // the last cells end one short
			room, spare = room-1, spare-1
		}
		at := len(rows) - room
		j.lists[c], rows = append(j.lists[c], rows[at:]...), rows[:at]
	}
}
