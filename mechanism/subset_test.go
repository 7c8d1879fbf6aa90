package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/internal/noise"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

var subsetSizes = [][2]int{{2, 1}, {3, 1}, {3, 2}, {12, 1}, {55, 1}, {98, 8}, {100, 99}, {maxItems, 1}, {maxItems, maxItems - 1}}

// subsetPrivate reports whether including the item with probability p makes no
// set more than e^epsilon times as likely for one item as for another, in exact
// numbers except e^epsilon, which is taken from below.
func subsetPrivate(s Subset, p *big.Rat) bool {
	without := new(big.Rat).Sub(big.NewRat(1, 1), p)
	// p/C(m-1, w-1) against (1-p)/C(m-1, w): the binomials have the ratio w to
	// m-w.
	ratio := p.Quo(p, without)
	ratio.Mul(ratio, big.NewRat(int64(s.Items-s.Size), int64(s.Size)))
	limit, _ := expBelow(s.Epsilon).Rat(nil)
	return ratio.Cmp(limit) <= 0 && ratio.Cmp(limit.Inv(limit)) >= 0
}

func TestSubsetIsPrivate(t *testing.T) {
	for _, epsilon := range responseEpsilons {
		for _, size := range subsetSizes {
			s := Subset{Items: size[0], Size: size[1], Epsilon: epsilon}
			if !subsetPrivate(s, new(big.Rat).SetFrac(s.odds())) {
				t.Errorf("%+v is not private", s)
			}
			// The probability is not much below the best either.
			p, err := s.Inclusion()
			if err != nil {
				t.Fatal(err)
			}
			r := math.Exp(epsilon) * float64(s.Size)
			if want := r / (r + float64(s.Items-s.Size)); math.Abs(p/want-1) > 1e-14 {
				t.Errorf("%+v: included with %g, want %g", s, p, want)
			}
		}
	}
}

// The check above must see the classic errors.
func TestSubsetCheckSeesErrors(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 5} {
		e := math.Exp(epsilon)
		for name, p := range map[string]func(m, w float64) float64{
			"no w":            func(m, w float64) float64 { return e / (e + 1) },
			"m for m-w":       func(m, w float64) float64 { return (w*e + 1) / (w*e + m - w) },
			"epsilon doubled": func(m, w float64) float64 { return w * e * e / (w*e*e + m - w) },
			"rounded up":      func(m, w float64) float64 { return float64(math.Nextafter32(float32(w*e/(w*e+m-w)), 2)) },
			"seldom":          func(m, w float64) float64 { return 0x1p-40 },
		} {
			for _, size := range [][2]int{{12, 1}, {98, 8}} {
				s := Subset{Items: size[0], Size: size[1], Epsilon: epsilon}
				if subsetPrivate(s, new(big.Rat).SetFloat64(p(float64(s.Items), float64(s.Size)))) {
					t.Errorf("%s: %+v passes", name, s)
				}
			}
		}
	}
}

// All sets of small m, counted for every item, against their exact
// probabilities; and the same counts against another epsilon, which must fail.
func TestSubsetFrequencies(t *testing.T) {
	words := streamOf(t, "subset")
	for _, s := range []Subset{{5, 1, 1}, {5, 2, 0.5}, {5, 4, 2}, {6, 3, 1}, {2, 1, 1}} {
		favourable, all := s.odds()
		checkFrequencies(t, s, pick(60_000, 1_000_000), func(item int) []int {
			return s.fill(item, uint64(int64(belowBig(all, words).Cmp(favourable))>>63), words)
		})
	}
}

// The same for released sets. They are in rising order, so that the order
// reveals nothing.
func TestSelectFrequencies(t *testing.T) {
	s, randomness := Subset{Items: 5, Size: 2, Epsilon: 1.5}, randomness("selections")
	checkFrequencies(t, s, pick(10_000, 100_000), func(item int) []int {
		out, err := selectSubset(NoLedger, alice, s, item, randomness)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(out.Items) {
			t.Fatalf("selected %v", out.Items)
		}
		return out.Items
	})
}

func checkFrequencies(t *testing.T, s Subset, draws int, draw func(item int) []int) {
	t.Helper()
	law := func(epsilon float64) (expected []float64) {
		p, err := Subset{s.Items, s.Size, epsilon}.Inclusion()
		if err != nil {
			t.Fatal(err)
		}
		for item := range s.Items {
			for z := range 1 << s.Items {
				switch {
				case bits.OnesCount(uint(z)) != s.Size:
					expected = append(expected, 0)
				case z>>item&1 == 1:
					expected = append(expected, float64(draws)*p/binomial(s.Items-1, s.Size-1))
				default:
					expected = append(expected, float64(draws)*(1-p)/binomial(s.Items-1, s.Size))
				}
			}
		}
		return expected
	}
	counts := make([]float64, s.Items<<s.Items)
	for item := range s.Items {
		for range draws {
			z := 0
			for _, i := range draw(item) {
				z |= 1 << i
			}
			counts[item<<s.Items|z]++
		}
	}
	test := func(expected []float64) bool {
		for item := range s.Items {
			part := func(v []float64) []float64 { return v[item<<s.Items : (item+1)<<s.Items] }
			if _, _, reject := chiSquare(part(counts), part(expected)); reject {
				return false
			}
		}
		return true
	}
	if !test(law(s.Epsilon)) {
		t.Errorf("%+v: not the frequencies of its law", s)
	}
	if longtest.Wanted() && test(law(s.Epsilon+0.3)) {
		t.Errorf("%+v: the test does not see an epsilon of 0.3 more", s)
	}
}

func streamOf(t *testing.T, name string) noise.Source {
	t.Helper()
	secret, err := drawSecrets(randomness(name), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	return rand.NewChaCha8(secret.chunks[0])
}

func binomial(n, k int) float64 {
	v, _ := new(big.Float).SetInt(new(big.Int).Binomial(int64(n), int64(k))).Float64()
	return v
}

func TestBelowBig(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(5), 64) // 67 bits
	// The first two words, cut to 67 bits, are n itself and drawn again; the
	// next are n-1.
	word, used := wordScript(1<<63|5, 0, 4, math.MaxUint64)
	if got := belowBig(n, word); got.Cmp(new(big.Int).Sub(n, big.NewInt(1))) != 0 || *used != 4 {
		t.Errorf("%v after %d words", got, *used)
	}
	word, used = wordScript(math.MaxUint64)
	if got := belowBig(big.NewInt(1), wordFunc(func() uint64 { return word() &^ 1 })); got.Sign() != 0 || *used != 1 {
		t.Errorf("%v after %d words", got, *used)
	}
}

// Every item takes the same words, and moving the item moves the set.
func TestSubsetDrawsAlikeForEveryItem(t *testing.T) {
	s := Subset{Items: 30, Size: 4, Epsilon: 2}
	for trial := range byte(20) {
		for _, included := range []bool{false, true} {
			var first []int
			firstUsed := 0
			for item := range s.Items {
				words, used := rand.NewChaCha8([32]byte{trial}), 0
				mask := uint64(0)
				if included {
					mask = math.MaxUint64
				}
				set := s.fill(item, mask, wordFunc(func() uint64 { used++; return words.Uint64() }))
				if slices.Contains(set, item) != included {
					t.Fatalf("item %d, included %v: %v", item, included, set)
				}
				if item == 0 {
					first, firstUsed = set, used
					continue
				}
				moved := slices.Clone(first)
				for i := range moved {
					moved[i] = (moved[i] + item) % s.Items
				}
				slices.Sort(moved)
				if used != firstUsed || !slices.Equal(set, moved) {
					t.Fatalf("item %d: %v after %d words, want %v after %d", item, set, used, moved, firstUsed)
				}
			}
		}
	}
}

func TestSelect(t *testing.T) {
	s := Subset{Items: 12, Size: 3, Epsilon: 1.5}
	budget := &fakeBudget{}
	out, err := selectSubset(budget, alice, s, 11, fixed("select"))
	if err != nil {
		t.Fatal(err)
	}
	if len(out.Items) != 3 || !slices.IsSorted(out.Items) || out.Items[0] < 0 || out.Items[2] > 11 {
		t.Errorf("selected %v", out.Items)
	}
	if !slices.Equal(budget.spends, []Spend{{PureEpsilon: 1.5, Protects: AnyData()}}) || !slices.Equal(budget.units, []Unit{alice}) || budget.ids[0] != out.ID || out.Sequence != 42 {
		t.Errorf("spent %+v of %v for %+v", budget.spends, budget.units, out)
	}
	if want := s.hash(out.Items); budget.sums[0] != want {
		t.Errorf("committed %x, want %x", budget.sums[0], want)
	}
	if other := (Subset{Items: 12, Size: 3, Epsilon: 1.25}).hash(out.Items); other == budget.sums[0] {
		t.Error("the hash does not hold epsilon")
	}
	// With the system's entropy two selections differ somewhere.
	wide := Subset{Items: maxItems, Size: 20, Epsilon: 1}
	a, errA := wide.Select(NoLedger, alice, 3)
	b, errB := wide.Select(NoLedger, alice, 3)
	if errA != nil || errB != nil || slices.Equal(a.Items, b.Items) || a.ID == b.ID {
		t.Errorf("%v %v, %v %v", a, errA, b, errB)
	}
}

// The price of a selection in ledgers of each kind, with the vectors of
// Gaussian privacy, eps^2/2 and eps.
func TestSelectSpendsInEveryKind(t *testing.T) {
	for _, c := range []struct {
		total   Total
		epsilon float64
		want    float64
	}{
		{Total{Kind: GDP, Epsilon: 20, Delta: 1e-5}, 1, 0.758955595371},
		{Total{Kind: GDP, Epsilon: 20, Delta: 1e-5}, 2, 2.77999118390},
		{Total{Kind: ZCDP, Epsilon: 20, Delta: 1e-5}, 1, 0.5},
		{Total{Kind: ZCDP, Epsilon: 20, Delta: 1e-5}, 2, 2},
		{Total{Kind: Pure, Epsilon: 20, Delta: 0}, 4, 4},
		{Total{Kind: Pure, Epsilon: 20, Delta: 0}, 0.5, 0.5},
		{Total{Kind: Mixed, Epsilon: 20, Delta: 1e-5, PureEpsilon: 12}, 4, 4},
	} {
		ledger := openedLedger(t, c.total)
		s := Subset{Items: 12, Size: 1, Epsilon: c.epsilon}
		out, err := s.Select(ledger, alice, 4)
		if err != nil {
			t.Fatal(err)
		}
		spent, err := ledger.Spent(alice)
		if err != nil || math.Abs((spent.Rho.Float()+spent.Pure.Float())/c.want-1) > 1e-11 || out.Sequence != 1 {
			t.Errorf("%v: spent %v, want %g: %v", c.total, spent, c.want, err)
		}
		// Until it refuses, each selection is a new spend.
		for err == nil {
			_, err = s.Select(ledger, alice, 4)
		}
		if !errors.Is(err, ErrBudgetExceeded) {
			t.Errorf("%v: error %v", c.total, err)
		}
	}
}

func openedLedger(t *testing.T, total Total) *Ledger {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pure.ledger")
	if err := CreateLedger(path, total); err != nil {
		t.Fatal(err)
	}
	ledger, err := OpenLedger(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ledger.Close() })
	return ledger
}

func TestSelectRefuses(t *testing.T) {
	good := Subset{Items: 12, Size: 1, Epsilon: 1}
	nan, inf := math.NaN(), math.Inf(1)
	for name, c := range map[string]struct {
		s    Subset
		item int
		unit Unit
		want error
	}{
		"one item":       {Subset{1, 1, 1}, 0, alice, ErrParam},
		"too many items": {Subset{maxItems + 1, 1, 1}, 0, alice, ErrParam},
		"empty set":      {Subset{12, 0, 1}, 0, alice, ErrParam},
		"all of them":    {Subset{12, 12, 1}, 0, alice, ErrParam},
		"negative size":  {Subset{12, -1, 1}, 0, alice, ErrParam},
		"no epsilon":     {Subset{12, 1, 0}, 0, alice, ErrParam},
		"negative":       {Subset{12, 1, -1}, 0, alice, ErrParam},
		"nan":            {Subset{12, 1, nan}, 0, alice, ErrParam},
		"infinite":       {Subset{12, 1, inf}, 0, alice, ErrParam},
		"huge epsilon":   {Subset{12, 1, 101}, 0, alice, ErrParam},
		"item below":     {good, -1, alice, ErrParam},
		"item above":     {good, 12, alice, ErrParam},
		"unit":           {good, 0, Unit{Kind: "house", Name: "x"}, ErrParam},
		"nameless":       {good, 0, Unit{Kind: release.UnitRecord}, ErrParam},
	} {
		budget := &fakeBudget{}
		if out, err := selectSubset(budget, c.unit, c.s, c.item, fixed("refuse")); !errors.Is(err, c.want) || out != nil || len(budget.spends) != 0 {
			t.Errorf("%s: %v, %v, %d spends", name, out, err, len(budget.spends))
		}
		if _, err := c.s.Inclusion(); c.s != good && !errors.Is(err, ErrParam) {
			t.Errorf("%s: inclusion: error %v", name, err)
		}
	}
	if _, err := good.Select(nil, alice, 0); !errors.Is(err, ErrLedger) {
		t.Errorf("no budget: error %v", err)
	}
	// Without entropy nothing is spent; without budget nothing is drawn; and
	// when the hash cannot be written the set is there, paid for.
	budget := &fakeBudget{}
	if out, err := selectSubset(budget, alice, good, 0, iotest.ErrReader(errors.New("dry"))); !errors.Is(err, ErrEntropy) || out != nil || len(budget.spends) != 0 {
		t.Errorf("dry: %v, %v, %d spends", out, err, len(budget.spends))
	}
	budget = &fakeBudget{refuse: ErrBudgetExceeded}
	if out, err := selectSubset(budget, alice, good, 0, fixed("x")); !errors.Is(err, ErrBudgetExceeded) || out != nil {
		t.Errorf("refused: %v, %v", out, err)
	}
	budget = &fakeBudget{fail: ErrLedger}
	if out, err := selectSubset(budget, alice, good, 0, fixed("x")); !errors.Is(err, ErrSpent) || !errors.Is(err, ErrLedger) || out == nil {
		t.Errorf("not committed: %v, %v", out, err)
	}
}

// A set that is drawn first costs the same as a selected one, and is noted in the
// same way.
func TestDrawAndPay(t *testing.T) {
	s := Subset{Items: 12, Size: 3, Epsilon: 1.5}
	drawn, err := s.Draw(11)
	if err != nil || len(drawn.Items) != 3 || drawn.Sequence != 0 {
		t.Fatalf("%v, %v", drawn, err)
	}
	budget := &fakeBudget{}
	if err := s.Pay(budget, alice, drawn); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(budget.spends, []Spend{{PureEpsilon: 1.5, Protects: AnyData()}}) || !slices.Equal(budget.units, []Unit{alice}) || budget.ids[0] != drawn.ID || drawn.Sequence != 42 || budget.sums[0] != s.hash(drawn.Items) {
		t.Errorf("spent %+v of %v for %+v", budget.spends, budget.units, drawn)
	}
	for _, item := range []int{-1, 12} {
		if out, err := s.Draw(item); out != nil || !errors.Is(err, ErrParam) {
			t.Errorf("item %d: %v, %v", item, out, err)
		}
	}
	for name, items := range map[string][]int{
		"none": nil, "short": {1, 2}, "long": {1, 2, 3, 4}, "falling": {3, 2, 1}, "twice": {1, 1, 2}, "below": {-1, 1, 2}, "above": {1, 2, 12},
	} {
		budget := &fakeBudget{}
		if err := s.Pay(budget, alice, &Selection{Items: items}); !errors.Is(err, ErrParam) || len(budget.spends) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		s      Subset
		budget Budget
		unit   Unit
		drawn  *Selection
		want   error
	}{
		"no set":    {s, NoLedger, alice, nil, ErrParam},
		"no subset": {Subset{}, NoLedger, alice, drawn, ErrParam},
		"no budget": {s, nil, alice, drawn, ErrLedger},
		"no unit":   {s, NoLedger, Unit{}, drawn, ErrParam},
		"refused":   {s, &fakeBudget{refuse: ErrBudgetExceeded}, alice, drawn, ErrBudgetExceeded},
		"not noted": {s, &fakeBudget{fail: ErrLedger}, alice, drawn, ErrSpent},
	} {
		if err := c.s.Pay(c.budget, c.unit, c.drawn); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	for _, s := range []Subset{{12, 1, 1}, {55, 1, 8}, {1000, 30, 4}} {
		b.Run(fmt.Sprintf("items=%d/size=%d", s.Items, s.Size), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Select(NoLedger, alice, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
