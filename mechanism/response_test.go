package mechanism

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

var (
	responseEpsilons = []float64{1e-6, 3e-6, 1e-4, 0.01, 0.1, 0.5, math.Ln2, 1, 1.5, 2, 3, 5, 8, 10, 15, 20, 44, 45, 60, 100}
	responseClasses  = []int{2, 3, 4, 5, 7, 10, 16, 98, 100, 1000, 1024, 65537, 1_000_000, math.MaxInt32}
)

// expBelow returns e^x from below, unlike keepThreshold by halving x until the
// series is short and squaring back. The 40 squarings multiply a relative error
// of 2^-590 by 2^40; 2^-500 covers it.
func expBelow(x float64) *big.Float {
	const bits, halvings = 600, 40
	y := new(big.Float).SetPrec(bits).SetFloat64(x)
	y.SetMantExp(y, -halvings)
	sum := new(big.Float).SetPrec(bits).SetInt64(1)
	for i := int64(30); i > 0; i-- { // Horner; y < 2^-33, so y^30/30! < 2^-1000
		sum.Mul(sum, y)
		sum.Quo(sum, new(big.Float).SetPrec(bits).SetInt64(i))
		sum.Add(sum, big.NewFloat(1))
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	loss := new(big.Float).SetPrec(bits).SetMantExp(big.NewFloat(1), -500)
	return sum.Sub(sum, loss.Mul(loss, sum))
}

// responsePrivate reports whether keeping with probability t/2^64 is
// epsilon-private: whether no output is more than e^epsilon times as likely
// under one label as under another. All numbers are exact except e^epsilon,
// which is taken from below.
func responsePrivate(t uint64, classes int, epsilon float64) bool {
	whole := new(big.Int).Lsh(big.NewInt(1), 64)
	kept := new(big.Int).SetUint64(t)
	lost := new(big.Int).Sub(whole, kept)
	p := new(big.Rat).SetFrac(kept, whole)
	q := new(big.Rat).SetFrac(lost, new(big.Int).Mul(whole, big.NewInt(int64(classes-1))))
	limit, _ := expBelow(epsilon).Rat(nil)
	return p.Cmp(new(big.Rat).Mul(limit, q)) <= 0 && q.Cmp(new(big.Rat).Mul(limit, p)) <= 0
}

func TestExpBelow(t *testing.T) {
	for _, x := range responseEpsilons {
		if got, _ := expBelow(x).Float64(); math.Abs(got/math.Exp(x)-1) > 1e-15 {
			t.Errorf("e^%g = %g, want %g", x, got, math.Exp(x))
		}
	}
}

func TestResponseIsPrivate(t *testing.T) {
	rng := rand.New(rand.NewChaCha8([32]byte{1}))
	epsilons := slices.Clone(responseEpsilons)
	for range 60 {
		epsilons = append(epsilons, 1e-6*math.Exp(rng.Float64()*math.Log(2e7)))
	}
	for _, epsilon := range epsilons {
		for _, classes := range responseClasses {
			keep := keepThreshold(classes, epsilon)
			if !responsePrivate(keep, classes, epsilon) {
				t.Errorf("epsilon %g, %d classes: keeping with %d/2^64 is not private", epsilon, classes, keep)
			}
			// The threshold is not too small either: one more would be too
			// many.
			if keep < math.MaxUint64 && responsePrivate(keep+1, classes, epsilon) {
				t.Errorf("epsilon %g, %d classes: %d/2^64 is not the largest", epsilon, classes, keep)
			}
		}
	}
}

// The check above must see the classic errors.
func TestResponseCheckSeesErrors(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 5} {
		e := math.Exp(epsilon)
		wrong := map[string]func(classes int) float64{
			"no classes-1":      func(int) float64 { return e / (e + 1) },
			"others include it": func(c int) float64 { p := e / (e + float64(c-1)); return p + (1-p)/float64(c) },
			"seldom keeps":      func(int) float64 { return 0x1p-40 },
			"epsilon doubled":   func(c int) float64 { return e * e / (e*e + float64(c-1)) },
			"rounded up":        func(c int) float64 { return float64(math.Nextafter32(float32(e/(e+float64(c-1))), 2)) },
		}
		for name, p := range wrong {
			for _, classes := range []int{3, 10, 1000} {
				if responsePrivate(uint64(math.Ldexp(p(classes), 64)), classes, epsilon) {
					t.Errorf("%s: epsilon %g, %d classes passes", name, epsilon, classes)
				}
			}
		}
	}
}

func TestResponseSaturates(t *testing.T) {
	if keep := keepThreshold(2, 100); keep != math.MaxUint64 {
		t.Errorf("at epsilon 100 a label is kept with %d/2^64", keep)
	}
}

// wordFunc is a source of the words that a function returns.
type wordFunc func() uint64

func (f wordFunc) Uint64() uint64 { return f() }

// wordScript returns the words one after the other, and counts them.
func wordScript(words ...uint64) (word wordFunc, used *int) {
	used = new(int)
	return func() uint64 { *used++; return words[*used-1] }, used
}

func TestResponseScripted(t *testing.T) {
	const classes, epsilon = 5, 1.0
	keep := keepThreshold(classes, epsilon)
	at := func(j uint64) uint64 { return j<<62 + 1<<61 } // makes below(4) return j
	for label := int32(0); label < classes; label++ {
		for j := range uint64(4) {
			for _, c := range []struct {
				word uint64
				want int32
			}{
				{0, label}, {keep - 1, label},
				{keep, (label + 1 + int32(j)) % classes}, {math.MaxUint64, (label + 1 + int32(j)) % classes},
			} {
				word, used := wordScript(c.word, at(j))
				got := []int32{-7}
				randomisedResponse(got, []int32{label}, classes, epsilon, word)
				if got[0] != c.want || *used != 2 {
					t.Fatalf("label %d, words %d, %d: %d after %d words, want %d after 2", label, c.word, at(j), got[0], *used, c.want)
				}
			}
		}
	}
}

func TestResponseOneClass(t *testing.T) {
	dst := []int32{4, 4, 4}
	randomisedResponse(dst, []int32{0, 0, 0}, 1, 1, wordFunc(func() uint64 { t.Fatal("a word was drawn"); return 0 }))
	if !slices.Equal(dst, []int32{0, 0, 0}) {
		t.Fatal(dst)
	}
}

func TestResponseStaysInRange(t *testing.T) {
	stream := rand.NewChaCha8([32]byte{2})
	for _, classes := range []int{1, 2, 3, 98, math.MaxInt32} {
		labels := make([]int32, 3000)
		for i := range labels {
			labels[i] = int32(noise.Below(uint64(classes), stream))
		}
		labels[0], labels[1] = 0, int32(classes-1)
		dst := slices.Clone(labels)
		randomisedResponse(dst, dst, classes, 1e-6, stream) // in place
		for i, v := range dst {
			if v < 0 || int(v) >= classes {
				t.Fatalf("%d classes: label %d became %d", classes, labels[i], v)
			}
		}
	}
}

// A chi-square test of all pairs of label and output, on a fixed stream, and
// of the same numbers against a wrong law, which must fail.
func TestResponseFrequencies(t *testing.T) {
	const classes, draws, epsilon = 4, 200_000, 1.2
	stream := rand.NewChaCha8([32]byte{3})
	labels, dst := make([]int32, draws), make([]int32, draws)
	var counts [classes][classes]float64
	for label := range int32(classes) {
		for i := range labels {
			labels[i] = label
		}
		randomisedResponse(dst, labels, classes, epsilon, stream)
		for _, v := range dst {
			counts[label][v]++
		}
	}
	chiSquare := func(keep float64) (sum float64) {
		for label, row := range counts {
			for v, got := range row {
				want := draws * (1 - keep) / (classes - 1)
				if v == label {
					want = draws * keep
				}
				sum += (got - want) * (got - want) / want
			}
		}
		return sum
	}
	e := math.Exp(epsilon)
	const critical = 65.0 // 12 degrees of freedom, false alarm below 1e-8
	if got := chiSquare(e / (e + classes - 1)); got > critical {
		t.Errorf("chi-square %g", got)
	}
	if got := chiSquare(e / (e + classes)); got < critical {
		t.Errorf("a wrong law passes: chi-square %g", got)
	}
}

// The labels of a release are randomised, at the epsilon that was requested and
// paid.
func TestReleasedLabels(t *testing.T) {
	const rows, classes, epsilon = 20_000, 10, 2.5
	c, r := fixture(t, rows, 1, 1)
	r.Labels = LabelSettings{Mode: release.ModeRandomised, Values: make([]int32, rows), Epsilon: epsilon}
	for i := range r.Labels.Values {
		r.Labels.Values[i] = int32(i % classes)
	}
	out, err := privatize(background, c, NoLedger, r, nil, randomness("labels"))
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]float64, classes) // by how far a label has moved
	for i, v := range out.Labels.Values {
		counts[(int(v)-i%classes+classes)%classes]++
	}
	law := func(epsilon float64) []float64 {
		e := math.Exp(epsilon)
		expected := slices.Repeat([]float64{rows / (e + classes - 1)}, classes)
		expected[0] *= e
		return expected
	}
	if statistic, _, reject := chiSquare(counts, law(epsilon)); reject {
		t.Errorf("moved %v, chi-square %g", counts, statistic)
	}
	if _, _, reject := chiSquare(counts, law(epsilon+0.3)); !reject {
		t.Error("the test does not see an epsilon of 0.3 more")
	}
}

func TestResponseAllocatesNothingPerRow(t *testing.T) {
	stream := rand.NewChaCha8([32]byte{4})
	allocations := func(rows int) float64 {
		labels := make([]int32, rows)
		return testing.AllocsPerRun(5, func() { randomisedResponse(labels, labels, 10, 1, stream) })
	}
	if few, many := allocations(1), allocations(10_000); many > few+50 { // some room for the runtime's own
		t.Errorf("%v allocations for one row, %v for many", few, many)
	}
}

func BenchmarkResponse(b *testing.B) {
	stream := rand.NewChaCha8([32]byte{5})
	for _, classes := range []int{2, 98} {
		b.Run(fmt.Sprintf("classes=%d", classes), func(b *testing.B) {
			labels := make([]int32, 100_000)
			b.SetBytes(int64(4 * len(labels)))
			for b.Loop() {
				randomisedResponse(labels, labels, classes, 1, stream)
			}
		})
	}
}
