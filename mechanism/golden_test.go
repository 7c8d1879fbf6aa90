//go:build amd64 && !amd64.v3

// Other processors, and this one from level v3 on, fuse products into sums or have
// another exponential: other bits, equally good.

package mechanism

import (
	"crypto/sha256"
	"fmt"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// Releases made of fixed random bytes have fixed bits: calibration, noise, labels
// and subsets.
func TestGoldenBits(t *testing.T) {
	h := sha256.New()
	for _, rule := range []Rule{Analytic, Classical} {
		for _, mode := range []string{release.ModeDropped, release.ModeRandomised} {
			c, r := fixture(t, 140, 1000, 1)
			p := c.settings
			p.Rule, p.Epsilon = rule, 0.7
			c, err := Calibrate(p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Displacement.Data {
				r.Displacement.Data[i] = math.Sqrt(float64(i%97)) - 4
			}
			r.Labels = LabelSettings{Mode: mode}
			if mode == release.ModeRandomised {
				r.Labels.Values, r.Labels.Epsilon = make([]int32, 140), 1
			}
			out, err := privatize(background, c, NoLedger, r, nil, fixed("bits"))
			if err != nil {
				t.Fatal(err)
			}
			b, err := out.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			h.Write(b)
		}
	}
	unit := Unit{Kind: release.UnitRecord, Name: "x"}
	subset, err := selectSubset(NoLedger, unit, Subset{Items: 100, Size: 7, Epsilon: 1.3}, 5, fixed("bits"))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(h, subset.Items)
	const want = "22c0647fa2233dcc775e9774c307b2bd"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:16]); got != want {
		t.Errorf("bits %s, want %s: if that is intended, say so in CHANGELOG.md", got, want)
	}
}
