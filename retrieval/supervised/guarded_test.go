package supervised

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
)

// sources are the files as they were compiled, also where the tests are built over other ones.
//
//go:embed *.go
var sources embed.FS

// Where a map meets private rows, no branch and no index depends on them.
func TestGuardedByMasks(t *testing.T) {
	for _, problem := range inspect.Files(sources, inspect.Functions{
		"guarded_rows.go": {
			"isFinite": {"row"}, "place": {"w", "z"}, "prepare": {"dst", "row"}, "divideByNorm": {"row"}, "toSingle": {"x"}, "move": {"image", "row"},
			"factor": {"dst", "row"}, "powers": {"size"}, "finish": {"z", "image"},
		},
		"prepare.go": {"takeRoots": {"row"}},
	}) {
		t.Error(problem)
	}
}

// guard returns the guarded form of a map.
func guard(t *testing.T, m *Map) *Guarded {
	t.Helper()
	g, err := m.Guard()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// flagged returns a map for each combination of what it does before and after its linear part.
func flagged(m Map) (all []*Map) {
	for bits := range 8 {
		one := m
		one.Root, one.UnitRows, one.UnitImages = bits&1 != 0, bits&2 != 0, bits&4 != 0
		all = append(all, &one)
	}
	return all
}

func name(m *Map) string {
	return fmt.Sprintf("%d to %d columns, matrix %v, mean %v, scale %v, root %v, unit rows %v, unit images %v",
		m.Dim, m.Columns(), m.A != nil, m.Mean != nil, m.Scale != nil, m.Root, m.UnitRows, m.UnitImages)
}

func normals(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = r.NormFloat64()
	}
	return out
}

// The images of a guarded map are those of the map, bit for bit.
func TestGuardedBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 5, 64, 700} {
		rows := newRows(70, d)
		for i := range rows.Data {
			rows.Data[i] = float32(r.NormFloat64() * math.Ldexp(1, r.IntN(20)))
		}
		clear(rowOf(rows, 3))
		matrix := mat.NewDense(d, 9, normals(r, d*9))
		for i := range d { // units of features
			for j := range 9 {
				matrix.Set(i, j, matrix.At(i, j)*math.Ldexp(1, -r.IntN(20)))
			}
		}
		maps := slices.Concat(
			flagged(Map{Dim: d}), flagged(Map{Dim: d, Mean: normals(r, d)}), flagged(Map{Dim: d, Scale: normals(r, d)}),
			flagged(Map{Dim: d, Mean: normals(r, d), Scale: normals(r, d)}), flagged(Map{Dim: d, A: matrix}),
			flagged(Map{Dim: d, Mean: normals(r, d), A: matrix}), flagged(Map{Dim: d, Mean: normals(r, d), A: mat.NewDense(d, 2, nil)}))
		for _, m := range maps {
			want, err := m.Apply(rows)
			if err != nil {
				t.Fatal(err)
			}
			got, err := guard(t, m).Apply(rows)
			if err != nil || !slices.Equal(got.Data, want.Data) {
				t.Errorf("%s: the images differ, %v", name(m), err)
			}
		}
	}
}

// wild returns finite float32 numbers of all sizes, zeros and subnormal ones among them.
func wild(r *rand.Rand) float32 {
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return math.Float32frombits(r.Uint32() & 0x807fffff)
	case 2:
		return math.MaxFloat32
	case 3:
		return float32(r.NormFloat64())
	}
	for {
		if v := math.Float32frombits(r.Uint32()); v-v == 0 {
			return v
		}
	}
}

// hostile returns a number of a map within the range that Guard accepts before it sets what is
// small to 0: the largest is 2^top, and most of the others are as small as they may be, or not
// quite, or far below.
func hostile(r *rand.Rand, top int) float64 {
	sign := float64(1 - 2*r.IntN(2))
	switch r.IntN(6) {
	case 0:
		return 0
	case 1:
		return sign * math.Ldexp(1, top)
	case 2:
		return sign * math.Ldexp(1-r.Float64()/2, top-100+r.IntN(3))
	case 3:
		return sign * math.Ldexp(1, -1074+r.IntN(100))
	case 4:
		return sign * math.Ldexp(1-r.Float64()/2, top-128+r.IntN(8)) // next to 1 in float32: the least normal
	}
	return sign * math.Ldexp(1-r.Float64()/2, top-r.IntN(120))
}

func hostiles(r *rand.Rand, n, top int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = hostile(r, top)
	}
	out[r.IntN(n)] = math.Ldexp(1, top)
	return out
}

// A counter counts subnormal numbers, and others that no map should make.
type counter struct{ single, double, wrong int }

func (c *counter) float32(x float32) float32 {
	if x != 0 && math.Abs(float64(x)) < 0x1p-126 {
		c.single++
	}
	if x-x != 0 {
		c.wrong++
	}
	return x
}

func (c *counter) float64(x float64) float64 {
	if x != 0 && math.Abs(x) < 0x1p-1022 {
		c.double++
	}
	if x-x != 0 {
		c.wrong++
	}
	return x
}

// walk goes the way of a row through a map, operation by operation, with what the map has made
// ready, and counts.
func (c *counter) walk(g *Guarded, row []float32) {
	d, k := g.Dim(), g.Columns()
	prepared := make([]float32, d)
	g.prepare(prepared, row)
	for j, v := range row { // what prepare divides
		x := c.float64(float64(c.float32(v*0 + prepared[j])))
		c.float64(x * x)
	}
	image := make([]float64, k)
	if g.m.A == nil {
		for j, v := range prepared {
			away := c.float64(float64(v) - g.m.Mean[j])
			if g.m.Scale != nil {
				c.float64(away * g.m.Scale[j])
			}
		}
		g.move(image, prepared)
	} else {
		factors := make([]float32, d)
		up := g.factor(factors, prepared)
		for j, v := range prepared {
			c.float64(c.float64(c.float64(float64(v)-g.m.Mean[j])*g.weights[j]) / up)
		}
		for j := range image {
			column := g.columns[j*d:][:d]
			var plain, fused float32
			for i, v := range factors {
				product := c.float32(c.float32(v) * c.float32(column[i]))
				plain = c.float32(plain + product)
				fused = c.float32(float32(math.FMA(float64(v), float64(column[i]), float64(fused))))
			}
			var split [4]float32 // as vectors add
			for i, v := range factors {
				split[i%4] = c.float32(split[i%4] + v*column[i])
			}
			plain = c.float32(c.float32(split[0]+split[2]) + c.float32(split[1]+split[3]))
			image[j] = c.float64(c.float64(float64(plain)*up) * g.inverse[j])
		}
	}
	if g.m.UnitImages {
		largest := leastImage
		for _, v := range image {
			largest = max(largest, math.Abs(v))
		}
		down, _ := powers(largest)
		for _, v := range image {
			c.float64(v * down)
		}
	}
	z := make([]float32, k)
	g.finish(z, image)
	for _, v := range image {
		c.float64(v)
	}
	for _, v := range z {
		c.float32(v)
		c.float64(float64(v) * float64(v))
	}
}

// No map that is accepted, and no row, makes a subnormal number, or one that is not finite: how
// long they take would tell a server with a map of its choice what is in a row.
func TestGuardedNoSubnormalNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 600 {
		d, k := 1+r.IntN(9), 1+r.IntN(4)
		top := []int{-160, -126, 0, 50, 160}[r.IntN(5)]
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = []float64{0, 0x1p128, -0x1p-200, 0x1.8p-199, 1, 5e-324, 0x1p-210, r.NormFloat64()}[r.IntN(8)]
		}
		var m Map
		switch r.IntN(4) {
		case 0:
			m = Map{Dim: d, Mean: mean, Scale: hostiles(r, d, top)}
		case 1:
			m = Map{Dim: d, A: mat.NewDense(d, k, hostiles(r, d*k, top))}
		default:
			m = Map{Dim: d, Mean: mean, A: mat.NewDense(d, k, hostiles(r, d*k, top))}
		}
		for _, m := range flagged(m) {
			g := guard(t, m)
			rows := newRows(20, d)
			for i := range rows.Data {
				rows.Data[i] = wild(r)
			}
			var c counter
			for i := range rows.Rows {
				c.walk(g, slices.Clone(rowOf(rows, i)))
			}
			z, err := g.Apply(rows)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range z.Data {
				c.float32(v)
			}
			if c != (counter{}) {
				t.Fatalf("%s, largest 2^%d: subnormal or not finite: %+v", name(m), top, c)
			}
		}
	}
}

// The map of the attack: entries of 2e-38 next to 1. Nearly all products of an ordinary row are
// subnormal with it as it is, and none is when it is guarded.
func TestGuardedAttack(t *testing.T) {
	const d, k = 64, 8
	r := rand.New(rand.NewPCG(5, 6))
	a := mat.NewDense(d, k, nil)
	for j := range k {
		a.Set(j, j, 1)
		for i := k; i < d; i++ {
			a.Set(i, j, 2e-38)
		}
	}
	row := make([]float32, d)
	products := 0
	for j := range row {
		row[j] = r.Float32() / 2
		if p := row[j] * 2e-38; p != 0 && p < 0x1p-126 {
			products++
		}
	}
	if products < d/2 {
		t.Fatalf("%d of %d products are subnormal: this is no attack", products, d)
	}
	var c counter
	if c.walk(guard(t, &Map{Dim: d, A: a}), row); c != (counter{}) {
		t.Errorf("%+v", c)
	}
}

// Products of the smallest factors that differ in their last bits: their sum is the least normal
// number. Factors that are half as large count as 0, and their sum would be subnormal.
func TestGuardedLeastSum(t *testing.T) {
	for _, by := range []float64{.25, .5, 1, 2} {
		// All weights are 2, and the largest factor of the row and of the first column is 1/2.
		a := mat.NewDense(4, 2, []float64{0, 1, -0x1.000004p-39 * by, 1, 0x1.000002p-39 * by, 1, 1, 1})
		row := []float32{1, 0x1p-39 * float32(by), 0x1.000002p-39 * float32(by), 0}
		g := guard(t, &Map{Dim: 4, A: a})
		var c counter
		if c.walk(g, row); c != (counter{}) {
			t.Errorf("factors %g: %+v", by, c)
		}
		factors := make([]float32, 4)
		g.factor(factors, row)
		if sum := math.FMA(float64(factors[2]), float64(g.columns[2]), float64(factors[1])*float64(g.columns[1])); by == 1 && sum != 0x1p-126 {
			t.Errorf("the sum is %g", sum)
		}
	}
}

// Out of range is refused, field by field, and what is just within it is not.
func TestGuardRefuses(t *testing.T) {
	matrix := func(v ...float64) *mat.Dense { return mat.NewDense(2, 2, v) }
	above := func(x float64) float64 { return math.Nextafter(x, math.Inf(1)) }
	below := func(x float64) float64 { return math.Nextafter(x, 0) }
	for _, c := range []struct {
		what     string
		m        Map
		row, col int
	}{
		{"mean", Map{Dim: 2, Mean: []float64{0, above(0x1p128)}}, 0, 1},
		{"mean", Map{Dim: 2, Mean: []float64{above(-0x1p128) * 2, 0}, A: matrix(1, 0, 0, 1)}, 0, 0},
		{"scale", Map{Dim: 2, Scale: []float64{1, -above(0x1p160)}}, 0, 1},
		{"scale", Map{Dim: 2, Scale: []float64{below(0x1p-160), 0}}, 0, 0},
		{"scale", Map{Dim: 2, Scale: []float64{0, 5e-324}}, 0, 1},
		{"matrix", Map{Dim: 2, A: matrix(1, 0, above(0x1p160), 3)}, 1, 0},
		{"matrix", Map{Dim: 2, A: matrix(0, -below(0x1p-160), 0, 0)}, 0, 1},
	} {
		_, err := c.m.Guard()
		var e *rangeError
		if !errors.Is(err, ErrRange) || !errors.As(err, &e) || *e != (rangeError{c.what, c.row, c.col}) {
			t.Errorf("%+v: %v, want the %s at %d, %d", c.m, err, c.what, c.row, c.col)
		}
	}
	for what, m := range map[string]Map{
		"mean":   {Dim: 1, Mean: []float64{math.NaN()}},
		"scale":  {Dim: 1, Scale: []float64{math.Inf(1)}},
		"matrix": {Dim: 1, A: mat.NewDense(1, 1, []float64{math.Inf(-1)})},
	} {
		if _, err := m.Guard(); !errors.Is(err, points.ErrNonFinite) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, m := range []Map{
		{Dim: 2, Mean: []float64{0x1p128, -0x1p128}},
		{Dim: 2, Scale: []float64{0x1p160, 5e-324}},
		{Dim: 2, Scale: []float64{0x1p-160, 0}},
		{Dim: 2, A: matrix(0x1p160, 0, 0, 1)},
		{Dim: 2, A: matrix(0x1p-160, 0, 0, 0)},
		{Dim: 2, A: matrix(0, 0, 0, 0)},
	} {
		guard(t, &m)
	}
}

// What is small against others counts as 0, and the map of the caller stays as it is.
func TestGuardDropsSmallNumbers(t *testing.T) {
	m := &Map{Dim: 3, Mean: []float64{0x1p-201, 0x1p-200, 1}, Scale: []float64{0x1p-98, 0x1p-101, 4 * (1 - 0x1p-53)}}
	g := guard(t, m)
	if want := []float64{0, 0x1p-200, 1}; !slices.Equal(g.m.Mean, want) {
		t.Errorf("mean %v, want %v", g.m.Mean, want)
	}
	if want := []float64{0x1p-98, 0, 4 * (1 - 0x1p-53)}; !slices.Equal(g.m.Scale, want) {
		t.Errorf("scale %v, want %v", g.m.Scale, want)
	}
	if m.Mean[0] == 0 || m.Scale[1] == 0 {
		t.Error("the map has changed")
	}
	a := guard(t, &Map{Dim: 3, A: mat.NewDense(3, 2, []float64{1, 0x1p-101, 0x1p-40, 1, 0x1p-39, 1})})
	if want := []float32{.5, 0, 0x1p-40, 0, .5, .5}; !slices.Equal(a.columns, want) { // all rows have the weight 2
		t.Errorf("columns %v, want %v", a.columns, want)
	}
}

// Rows of another size, and rows that are not finite, are refused.
func TestGuardedRefusesRows(t *testing.T) {
	g := guard(t, &Map{Dim: 2})
	if _, err := g.Apply(newRows(1, 3)); !errors.Is(err, points.ErrShape) {
		t.Error(err)
	}
	for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(math.NaN(), -1)} {
		bad := newRows(2, 2)
		bad.Data[3] = float32(v)
		var e *points.NonFiniteError
		if _, err := g.Apply(bad); !errors.Is(err, points.ErrNonFinite) || !errors.As(err, &e) || e.Row != 1 || e.Col != 1 {
			t.Errorf("%g: %v", v, err)
		}
	}
	good := newRows(1, 2)
	good.Data[0], good.Data[1] = math.MaxFloat32, -math.MaxFloat32
	if _, err := g.Apply(good); err != nil {
		t.Error(err)
	}
}

// Maps that Fit makes are in range, also for features in tiny or huge units, in units that differ
// by a factor of 1e30, and with a constant column; and images stay what they are. Where units
// differ that much, a row may have numbers below 2^-40 of what others add to its image: those are
// left out.
func TestGuardTakesFits(t *testing.T) {
	const n, d = 90, 6
	r := rand.New(rand.NewPCG(7, 8))
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i % 3)
	}
	for what, unit := range map[string]func(j int) float64{
		"ordinary": func(int) float64 { return 1 },
		"tiny":     func(int) float64 { return 1e-30 },
		"huge":     func(int) float64 { return 1e30 },
		"mixed":    func(j int) float64 { return math.Pow(10, float64(6*j-15)) },
		"constant": func(j int) float64 { return min(float64(j), 1) },
	} {
		rows := newRows(n, d)
		for i := range n {
			for j := range d {
				rowOf(rows, i)[j] = float32((r.NormFloat64() + 3*float64(int(labels[i])*(j+1)%4)) * unit(j))
			}
		}
		for _, recipe := range []string{"", "standardize", "whiten", "discriminate"} {
			checkFit(t, what, recipe, rows, labels)
		}
	}
}

func checkFit(t *testing.T, what, recipe string, rows blas32.General, labels []int32) {
	t.Helper()
	var settings *Settings
	if recipe != "" {
		parsed, err := ParseRecipe(recipe)
		if err != nil {
			t.Fatal(err)
		}
		settings = &Settings{Recipe: &parsed}
	}
	e, err := privatemail.New(privatemail.WithWorkers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	model, err := Fit(context.Background(), e, rows, labels, settings)
	if err != nil {
		t.Fatalf("%s, %q: %v", what, recipe, err)
	}
	want, err := model.Map.Apply(rows)
	if err != nil {
		t.Fatal(err)
	}
	got, err := guard(t, model.Map).Apply(rows)
	if err != nil || what != "mixed" && !slices.Equal(got.Data, want.Data) {
		t.Errorf("%s, %q: the images differ, %v", what, recipe, err)
	}
	for i := range got.Rows {
		size := 0.
		for _, v := range rowOf(want, i) {
			size = max(size, math.Abs(float64(v)))
		}
		for j, v := range rowOf(got, i) {
			if off := math.Abs(float64(v) - float64(rowOf(want, i)[j])); off > 0x1p-36*size {
				t.Fatalf("%s, %q: row %d: %g in place of %g", what, recipe, i, v, rowOf(want, i)[j])
			}
		}
	}
}
