//go:build amd64 && !amd64.v3 && !netlib

// Other processors, and this one from level v3 on, fuse products into sums or have
// another exponential, and a system BLAS sums in an order of its own: other bits, as good
// as these.

package kernel_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/sparse"
)

// goldenPoints are rows around some centres, every tenth of them twice.
func goldenPoints(n, d, centres int, width float64) blas32.General {
	state := uint64(n)<<32 ^ uint64(d)<<16 ^ uint64(centres)
	next := func() float64 { // SplitMix64
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return float64((z^z>>31)>>11) * 0x1p-53
	}
	p := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	middle := make([]float64, centres*d)
	for i := range middle {
		middle[i] = next()
	}
	for i := range n {
		if i%10 == 9 {
			copy(p.Data[i*d:][:d], p.Data[(i-5)*d:])
			continue
		}
		at := middle[int(next()*float64(centres))*d:]
		for c := range d {
			p.Data[i*d+c] = float32(at[c] + width*(next()+next()-1))
		}
	}
	return p
}

type goldenCase struct {
	name      string
	n, d      int
	centres   int
	width     float64
	bandwidth kernel.Bandwidth
	opt       kernel.Options
}

var goldenCases = []goldenCase{
	{"csr plane", 3000, 2, 1, 1, kernel.Sigma(0.02), kernel.Options{Operator: "csr"}},
	{"csr clusters in space", 2500, 3, 20, 0.05, kernel.Sigma(0.01), kernel.Options{Operator: "csr", Layout: sparse.Compact}},
	{"csr line, repaired", 700, 1, 5, 0.3, kernel.Sigma(1e-4), kernel.Options{Operator: "csr", CutoffRadius: 3e-4, Isolated: kernel.Repair}},
	{"csr eight axes", 1200, 8, 9, 0.3, kernel.Sigma(0.05), kernel.Options{Operator: "csr", CutoffRadius: 0.25, Layout: sparse.Compact16}},
	{"csr every pair", 300, 4, 2, 1, kernel.Sigma(3), kernel.Options{Operator: "csr"}},
	{"csr codes", 1500, 40, 12, 0.3, kernel.Sigma(0.3), kernel.Options{Operator: "csr", CutoffRadius: 1}},
	{"csr codes, many axes", 900, 300, 8, 0.2, kernel.Sigma(0.8), kernel.Options{Operator: "csr", CutoffRadius: 1.8}},
	{"csr nearest", 1100, 70, 15, 0.4, kernel.Sigma(1), kernel.Options{Operator: "csr", Neighbours: 7}},
	{"csr nearest in the plane", 1100, 2, 15, 0.4, kernel.Sigma(0.1), kernel.Options{Operator: "csr", Neighbours: 5}},
	{"pairs plane", 3000, 2, 1, 1, kernel.Sigma(0.03), kernel.Options{Operator: "pairs"}},
	{"pairs space, repaired", 1500, 3, 30, 0.2, kernel.Sigma(0.01), kernel.Options{Operator: "pairs", CutoffRadius: 0.04, Isolated: kernel.Repair}},
	{"dense", 600, 5, 3, 1, kernel.Sigma(0.4), kernel.Options{Operator: "dense"}},
	{"dense, many axes", 500, 90, 3, 1, kernel.Sigma(2), kernel.Options{Operator: "dense"}},
	{"poly", 2000, 12, 4, 0.3, kernel.Sigma(5), kernel.Options{Operator: "poly"}},
	{"grid line", 2000, 1, 4, 1, kernel.Sigma(0.3), kernel.Options{Operator: "grid"}},
	{"grid plane", 3000, 2, 4, 1, kernel.Sigma(0.3), kernel.Options{Operator: "grid"}},
	{"grid space", 3000, 3, 4, 1, kernel.Sigma(0.5), kernel.Options{Operator: "grid", Isolated: kernel.Repair}},
}

// Graphs, certificates, degrees, products and steps have the bits that
// testdata/golden.txt has, at every level of instructions.
func TestGoldenBits(t *testing.T) {
	t.Parallel()
	got := map[string]string{}
	var names []string
	for _, c := range goldenCases {
		names = append(names, c.name)
		for _, kernels := range simd.All() {
			opt := c.opt
			opt.Kernels = kernels
			op, err := kernel.Build(t.Context(), goldenPoints(c.n, c.d, c.centres, c.width), c.bandwidth, &opt)
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			sum := goldenSum(t, op)
			if before, ok := got[c.name]; ok && before != sum {
				t.Errorf("%s: level %v has other bits", c.name, kernels)
			}
			got[c.name] = sum
		}
	}
	features := goldenPoints(400, 6, 5, 1)
	rows, err := kernel.NewUnitRows(features, kernel.UnitOptions{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	background, err := rows.Background(t.Context(), kernel.Sigma(0.5), 0.4, 0.3, nil)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := rows.Dense(t.Context(), kernel.Sigma(0.5), nil)
	if err != nil {
		t.Fatal(err)
	}
	poly, err := rows.Poly(t.Context(), kernel.Sigma(5), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	got["unit background"], got["unit dense"], got["unit poly"] = goldenSum(t, background), goldenSum(t, dense), goldenSum(t, poly)
	names = append(names, "unit background", "unit dense", "unit poly")

	var text strings.Builder
	for _, name := range names {
		fmt.Fprintf(&text, "%s  %s\n", got[name], name)
	}
	const file = "testdata/golden.txt"
	if os.Getenv("PM_GOLDEN") == "write" {
		if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if text.String() != string(want) {
		t.Errorf("the bits are not those of %s; where that is intended, run PM_GOLDEN=write go test ./kernel -run GoldenBits and say so in CHANGELOG.md:\n%s", file, text.String())
	}
}

// goldenSum is a hash of what an operator says and does.
func goldenSum(t *testing.T, op kernel.Operator) string {
	t.Helper()
	h, n := sha256.New(), op.N()
	cert := op.Certificate()
	put(h, op.Order(), op.Degrees(), cert.Row, []float64{cert.RowMax, cert.RowP99, cert.EntryAbs, cert.EntryRel, cert.Rounding}, []int64{int64(cert.Kind), int64(cert.Isolated)})
	labels := make([]int32, n)
	for i := range labels {
		labels[i] = int32(i * 7 % 5)
	}
	table, err := kernel.NewLabels(labels, kernel.EqualTable(), false)
	if err != nil {
		t.Fatal(err)
	}
	step := &kernel.Step{Form: kernel.Paper, Labels: table, Coefficient: 0.3}
	for _, k := range []int{1, 3} {
		if wide, ok := op.(kernel.Operator64); ok {
			x := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
			for i := range x.Data {
				x.Data[i] = math.Sqrt(float64(i%97)) - 4
			}
			dst := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
			if err := wide.Apply64(t.Context(), dst, x); err != nil {
				t.Fatal(err)
			}
			put(h, dst.Data)
			var st kernel.Stats
			if err := st.Gather64(x, table); err != nil {
				t.Fatal(err)
			}
			if err := wide.Step64(t.Context(), dst, x, step, &st); err != nil {
				t.Fatal(err)
			}
			put(h, dst.Data)
		}
		if op.Name() == "poly" {
			continue // its products in float32 depend on the level
		}
		x := blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
		for i := range x.Data {
			x.Data[i] = float32(math.Sqrt(float64(i%97)) - 4)
		}
		dst := blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
		if err := op.Apply(t.Context(), dst, x); err != nil {
			t.Fatal(err)
		}
		put(h, dst.Data)
		var st kernel.Stats
		if err := st.Gather(x, table); err != nil {
			t.Fatal(err)
		}
		if err := op.Step(t.Context(), dst, x, step, &st); err != nil {
			t.Fatal(err)
		}
		put(h, dst.Data, []float64{st.Objective})
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:16])
}

func put(h hash.Hash, values ...any) {
	for _, v := range values {
		if err := binary.Write(h, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}
