//go:build amd64 && !amd64.v3

// Other processors, and this one from level v3 on, fuse products into sums or have
// another exponential: other bits, equally good.

package baseline

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// A vector made of fixed random bytes has fixed bits.
func TestGoldenBits(t *testing.T) {
	s, err := seriesFrom(mechanism.NoLedger, testUnit, seriesSettings{Epsilon: 1, Delta: 1e-6, L2Sensitivity: 2, Vectors: 3, Coordinates: 50, Protects: anyRow}, fixed("bits"))
	if err != nil {
		t.Fatal(err)
	}
	vector, err := s.release(make([]float64, 50))
	if err != nil {
		t.Fatal(err)
	}
	h := sha256.New()
	fmt.Fprintln(h, vector)
	const want = "227c8f9c227a1bdfa9cb0bfc7b1f7be3"
	if got := fmt.Sprintf("%x", h.Sum(nil)[:16]); got != want {
		t.Errorf("bits %s, want %s: if that is intended, say so in CHANGELOG.md", got, want)
	}
}
