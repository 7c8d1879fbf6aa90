package synth

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// The sums fix the points of a seed, since benchmarks of two versions must run on the
// same points. They were recorded with this code.
func TestGenerateIsFrozen(t *testing.T) {
	want := map[string]string{
		"classes":   "87b0efc8e418efe9",
		"clustered": "48a6300ad5da2bb6",
		"uniform":   "9b0b5e4401968c98",
	}
	for _, k := range Kinds() {
		x, labels, err := k.Make(Request{N: 500, D: 3, Seed: 42})
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		_ = binary.Write(h, binary.LittleEndian, x.Data)
		_ = binary.Write(h, binary.LittleEndian, labels)
		if got := hex.EncodeToString(h.Sum(nil)[:8]); got != want[k.Name] {
			t.Errorf("%s: sum %s, want %s", k.Name, got, want[k.Name])
		}
		if k.Labelled != (labels != nil) {
			t.Errorf("%s: Labelled %v, %d labels", k.Name, k.Labelled, len(labels))
		}
		y, _, err := k.Make(Request{N: 500, D: 3, Seed: 43})
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(x.Data, y.Data) {
			t.Errorf("%s: two seeds, one set", k.Name)
		}
	}
}

func TestKindNamed(t *testing.T) {
	all := Kinds()
	if !slices.IsSortedFunc(all, func(a, b Kind) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	}) {
		t.Error("kinds are not sorted")
	}
	for _, k := range all {
		got, err := KindNamed(k.Name)
		if err != nil || got.Name != k.Name || got.Law == "" {
			t.Errorf("%s: %+v, %v", k.Name, got, err)
		}
	}
	if _, err := KindNamed("spiral"); err == nil || !strings.Contains(err.Error(), "uniform") {
		t.Errorf("error %v", err)
	}
}

func TestGenerateRefusesSizes(t *testing.T) {
	for _, k := range Kinds() {
		for _, c := range [][2]int{{0, 2}, {2, 0}, {-1, 2}, {2, -1}, {math.MaxInt, 2}, {2, math.MaxInt}, {math.MaxInt/2 + 1, 2}, {1 << 21, 1 << 21}} {
			if _, _, err := k.Make(Request{N: c[0], D: c[1]}); !errors.Is(err, points.ErrShape) {
				t.Errorf("%s %d x %d: error %v", k.Name, c[0], c[1], err)
			}
		}
	}
	for _, classes := range []int{0, -3, math.MaxInt} {
		if _, _, err := Classes(10, 2, classes, 1); !errors.Is(err, points.ErrShape) {
			t.Errorf("%d classes: error %v", classes, err)
		}
	}
}

// Each axis has mean 1/2 and variance 1/12, without correlation, within five standard
// deviations of each estimate. The seed is fixed.
func TestUniformMoments(t *testing.T) {
	const n = 20000
	x, err := Uniform(n, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, b := column(x, 0), column(x, 1)
	for _, c := range [][]float64{a, b} {
		if slices.Min(c) < 0 || slices.Max(c) >= 1 {
			t.Error("point outside the cube")
		}
		if m := stat.Mean(c, nil); math.Abs(m-0.5) > 5*math.Sqrt(1/12.0/n) {
			t.Errorf("mean %v", m)
		}
		// The variance of (u-1/2)^2 is 1/180.
		if v := stat.Variance(c, nil); math.Abs(v-1/12.0) > 5*math.Sqrt(1/180.0/n) {
			t.Errorf("variance %v", v)
		}
	}
	if r := stat.Correlation(a, b, nil); math.Abs(r) > 5/math.Sqrt(n) {
		t.Errorf("correlation %v", r)
	}
}

// A uniform set puts 50 points, give or take 35, into each cell of a 20 x 20
// grid. Here most cells hold the 5 of the background and the fullest ten times
// the average.
func TestClusteredIsUneven(t *testing.T) {
	const n, grid = 20000, 20
	x, err := Clustered(n, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	var count [grid * grid]int
	for i := range n {
		p := x.Data[2*i : 2*i+2]
		if slices.Min(p) < 0 || slices.Max(p) > 1 {
			t.Fatalf("row %d outside the cube", i)
		}
		count[min(int(p[0]*grid), grid-1)*grid+min(int(p[1]*grid), grid-1)]++
	}
	slices.Sort(count[:])
	if low, high := count[grid*grid/10], count[grid*grid-1]; low < 1 || low > 20 || high < 500 {
		t.Errorf("tenth percentile %d, fullest cell %d", low, high)
	}
}

func TestReflect(t *testing.T) {
	for _, c := range [][2]float64{{0.25, 0.25}, {-0.25, 0.25}, {1.25, 0.75}, {2.25, 0.25}, {-1.25, 0.75}, {3.5, 0.5}, {1, 1}, {2, 0}} {
		if got := reflect(c[0]); got != c[1] {
			t.Errorf("reflect(%v) = %v, want %v", c[0], got, c[1])
		}
	}
}

// Centre and noise are nearly orthogonal in 256 dimensions, so a row is
// (u + 0.5 g')/sqrt(1.25): inner products are 0.8 inside a class and 0 between.
func TestClassesGeometry(t *testing.T) {
	const n, d, classes = 600, 256, 4
	x, labels, err := Classes(n, d, classes, 1)
	if err != nil {
		t.Fatal(err)
	}
	var seen [classes]int
	var same, other []float64
	for i := range n {
		seen[labels[i]]++
		row := blas32.Vector{N: d, Inc: 1, Data: x.Data[i*d : (i+1)*d]}
		if l := blas32.Nrm2(row); math.Abs(float64(l)-1) > 1e-6 {
			t.Fatalf("row %d has length %v", i, l)
		}
		for j := range i {
			p := float64(blas32.Dot(row, blas32.Vector{N: d, Inc: 1, Data: x.Data[j*d : (j+1)*d]}))
			if labels[i] == labels[j] {
				same = append(same, p)
			} else {
				other = append(other, p)
			}
		}
	}
	for c, k := range seen {
		if math.Abs(float64(k)-n/classes) > 5*math.Sqrt(n*0.25*0.75) {
			t.Errorf("class %d has %d rows", c, k)
		}
	}
	if m := stat.Mean(same, nil); math.Abs(m-0.8) > 0.02 {
		t.Errorf("mean product in a class %v", m)
	}
	if m := stat.Mean(other, nil); math.Abs(m) > 0.1 {
		t.Errorf("mean product between classes %v", m)
	}
}

func TestOneDimension(t *testing.T) {
	x, _, err := Classes(50, 1, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range x.Data {
		if v != 1 && v != -1 {
			t.Errorf("row %d is %v", i, v)
		}
	}
}

func column(x blas32.General, j int) []float64 {
	c := make([]float64, x.Rows)
	for i := range c {
		c[i] = float64(x.Data[i*x.Stride+j])
	}
	return c
}
