package cells

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// keyOf is the definition of a key.
func keyOf(g *grid, row []float32) uint64 {
	key := int64(0)
	for i, a := range g.axes {
		v := min(max(float64(row[a]), g.lo[i]), g.hi[i])
		key += min(int64((v-g.lo[i])*g.perSide), g.size[i]-1) * g.step[i]
	}
	return uint64(key)
}

// stridedPoints returns points with numbers between their rows, which nobody may take for
// coordinates, and with a few outliers.
func stridedPoints(rng *rand.Rand, n, d int) *rows.Points {
	const gap = 2
	p := &rows.Points{N: n, D: d, Radius: math.Inf(1), Lo: make([]float64, d), Hi: make([]float64, d)}
	p.Single = rows.NewView(n, d, d+gap, make([]float32, n*(d+gap)))
	for i := range p.Single.Data {
		p.Single.Data[i] = float32(math.NaN())
	}
	for a := range d {
		p.Lo[a], p.Hi[a] = math.Inf(1), math.Inf(-1)
	}
	for i := range n {
		for a, scale := 0, math.Exp2(float64(rng.IntN(50)/49*20)); a < d; a++ {
			v := float32(rng.NormFloat64() * scale)
			p.Single.Row(i)[a] = v
			p.Lo[a], p.Hi[a] = min(p.Lo[a], float64(v)), max(p.Hi[a], float64(v))
		}
	}
	return p
}

// Keys are those of the definition, also where outliers share the last cells, and the
// coordinates of a list are those of the rows in its order.
func TestKeysAndCoordinates(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	for d := 1; d <= 5; d++ {
		for _, radius := range []float64{1e-7, 0.01, 0.3, 40} {
			t.Run(fmt.Sprintf("d=%d/radius=%g", d, radius), func(t *testing.T) {
				p := stridedPoints(rng, 2*keysAtOnce+37, d)
				g := newGrid(p, radius)
				const first = 5
				keys := make([]uint64, p.N-first)
				addKeys(&g, keys, p, first)
				for i, key := range keys {
					if want := keyOf(&g, p.Single.Row(first+i)); key != want {
						t.Fatalf("point %d has key %d, want %d", first+i, key, want)
					}
				}
				cl, err := NewList(t.Context(), p, radius, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				for i := range cl.N {
					at := i
					if cl.Group != nil {
						at = int(cl.Group[i])
					}
					for a, v := range p.Single.Row(int(cl.Order[at])) {
						if got := cl.Axis[a*cl.N+i]; got != v {
							t.Fatalf("coordinate %d of point %d is %g, want %g", a, i, got, v)
						}
					}
				}
			})
		}
	}
}
