package server

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/kmeans"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// plainLists is the definition of lists, slowly: those of the nearest rows, and who
// joins which.
func plainLists(x, sent blas32.General, book *wire.Codebook, partition bool, length int) [][]uint32 {
	lists := make([][]uint32, book.Cells())
	row := make([]float64, x.Cols)
	distance := func(i uint32, c int) float64 {
		points.ReadRow(row, x, int(i))
		return kmeans.SquaredDistance(row, book.Centres[c*x.Cols:(c+1)*x.Cols])
	}
	nearer := func(c int) func(a, b uint32) int {
		return func(a, b uint32) int { return cmp.Or(cmp.Compare(distance(a, c), distance(b, c)), cmp.Compare(a, b)) }
	}
	all := make([]uint32, x.Rows)
	for i := range all {
		all[i] = uint32(i)
	}
	listed := make([]bool, x.Rows)
	places := 0
	for c := range lists {
		if !partition {
			lists[c] = slices.SortedFunc(slices.Values(all), nearer(c))[:length]
		}
		for _, i := range lists[c] {
			listed[i] = true
		}
		places += len(lists[c])
	}
	rest := slices.DeleteFunc(slices.Clone(all), func(i uint32) bool { return listed[i] })
	places += len(rest)
	full := max(2*length, (places+len(lists)-1)/len(lists))

	var copies []uint32
	closed := make([]bool, len(lists))
	for first := true; len(rest) > 0; first = false {
		want := make([][]uint32, len(lists))
		for _, i := range rest {
			best := -1
			for c := range lists {
				if !closed[c] && (best < 0 || distance(i, c) < distance(i, best)) {
					best = c
				}
			}
			want[best] = append(want[best], i)
		}
		rest = nil
		for c := range lists {
			slices.SortFunc(want[c], nearer(c))
			for _, i := range want[c] {
				equals := 0
				for _, k := range lists[c] {
					if slices.Equal(rowOf(x, k), rowOf(x, i)) && slices.Equal(rowOf(sent, k), rowOf(sent, i)) {
						equals++
					}
				}
				switch {
				case first && equals >= enoughCopies:
					copies = append(copies, i)
				case len(lists[c]) < full:
					lists[c] = append(lists[c], i)
				default:
					rest, closed[c] = append(rest, i), true
				}
			}
		}
	}
	slices.Sort(copies)
	dealt := make([]int, len(lists))
	for range copies { // the shortest list gets one more
		shortest := 0
		for c := range lists {
			if len(lists[c])+dealt[c] < len(lists[shortest])+dealt[shortest] {
				shortest = c
			}
		}
		dealt[shortest]++
	}
	for c := range lists {
		lists[c], copies = append(lists[c], copies[:dealt[c]]...), copies[dealt[c]:]
		slices.Sort(lists[c])
	}
	return lists
}

func rowOf(x blas32.General, i uint32) []float32 { return x.Data[int(i)*x.Stride:][:x.Cols] }

// crowded returns n rows, the first of which are at one place: equal, or nearly so.
func crowded(n, crowd int, spread float64) blas32.General {
	random := rand.New(rand.NewPCG(7, 8))
	x := blas32.General{Rows: n, Cols: 3, Stride: 3}
	for i := range n {
		for range 3 {
			v := random.NormFloat64()
			if i < crowd {
				v = 5 + spread*v
			}
			x.Data = append(x.Data, float32(v))
		}
	}
	return x
}

// Every row is in some list, and the lists are those of the definition.
func TestListsOfCrowds(t *testing.T) {
	for _, crowd := range []int{0, 400, 600} {
		for _, spread := range []float64{0, 1e-3} {
			for _, settings := range []CellsSettings{{Epsilon: 4}, {Epsilon: 7}, {Epsilon: 4, Size: 2}, {Cells: 3}, {Partition: true}} {
				for _, other := range []bool{false, true} { // rows that are sent differ where those of the cells are equal
					x := crowded(600, crowd, spread)
					sent := x
					if other {
						sent = crowded(600, 0, 0)
					}
					name := fmt.Sprintf("%d rows within %g, %+v, %t", crowd, spread, settings, other)
					server, err := NewCells(t.Context(), x, sent, settings)
					if err != nil {
						t.Fatal(name, err)
					}
					length := map[int]int{1: 75, 2: 38}[server.book.Size] // an eighth of the rows in all lists of an answer
					want := plainLists(x, sent, &server.book, settings.Partition, length)
					listed := make([]bool, x.Rows)
					for c, list := range server.lists {
						if !slices.Equal(list, want[c]) {
							t.Errorf("%s: list %d is %v, want %v", name, c, list, want[c])
						}
						for _, row := range list {
							listed[row] = true
						}
					}
					if slices.Contains(listed, false) {
						t.Errorf("%s: a row is in no list", name)
					}
				}
			}
		}
	}
}

// Many equal rows do not make answers long, and a crowd of different rows makes them
// twice as long as asked for at most.
func TestLengthWithCrowds(t *testing.T) {
	const n = 10_000
	for _, c := range []struct {
		crowd     int
		spread    float64
		most      int // rows in an answer
		displaced int // at least
	}{
		{0, 0, 1500, 0}, {3000, 0, 1500, 0}, {6000, 0, 1700, 0}, {n, 0, 2000, 0},
		{3000, 1e-3, 2500, 1}, {6000, 1e-3, 2500, 1},
	} {
		x := crowded(n, c.crowd, c.spread)
		workers := par.New(2)
		server, err := NewCells(t.Context(), x, x, CellsSettings{Epsilon: 4, Workers: workers})
		workers.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got := server.Displaced(); got < c.displaced || c.displaced == 0 && got != 0 {
			t.Errorf("%d of %d rows within %g: %d rows displaced", c.crowd, n, c.spread, got)
		}
		if got := server.Codebook().Length; got > c.most {
			t.Errorf("%d of %d rows within %g: answers have %d rows, want at most %d", c.crowd, n, c.spread, got, c.most)
		} else {
			t.Logf("%d of %d rows within %g: answers have %d rows, %d are displaced", c.crowd, n, c.spread, got, server.Displaced())
		}
	}
}

// Zeros of either sign are equal, and rows that are sent apart are not.
func TestEqualRows(t *testing.T) {
	zero := float32(0)
	x := blas32.General{Rows: 5, Cols: 2, Stride: 2, Data: []float32{1, zero, 1, -zero, 2, 0, 1, 0, 1, 0}}
	j := &joining[blas32.General]{x: x, n: 5, d: 2, sent: []float32{0, -zero, 0, 7, 0}}
	got, err := j.equalRows(t.Context())
	if want := []uint32{0, 0, 2, 3, 0}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
}
