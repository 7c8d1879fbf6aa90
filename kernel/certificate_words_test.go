package kernel

import (
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
)

// What a certificate says, word for word.
func TestCertificateInWords(t *testing.T) {
	none := float32(math.Inf(1))
	rows := func(k Kind, eta ...float32) Certificate {
		c := Certificate{Kind: k, Row: eta}
		for _, e := range eta {
			if e == none {
				c.Isolated++
			}
		}
		c.RowMax, c.RowP99 = base.RowMax(eta), base.RowP99(eta)
		return c
	}
	for _, c := range []struct {
		certificate Certificate
		want        string
	}{
		{rows(DroppedMass, 0.5, 8.7), "worst row: weights cut off could total 8.7 times those kept; in 99 of 100 rows at most 0.5"},
		{rows(DroppedMass, 0.5, 8.7, none), "worst row: weights cut off could total 8.7 times those kept; in 99 of 100 rows at most 8.7; isolated rows, which have no bound: 1"},
		{rows(DroppedMass, 2031, none, none), "worst row: weights cut off could total 2100 times those kept; isolated rows, which have no bound: 2"},
		{rows(DroppedMass, none, none), "no bound: every row is isolated"},
		{Certificate{Kind: Exact, Isolated: 1}, "no bound: every row is isolated"},
		{rows(Replaced, 3e-4), "worst row: weights replaced by a constant could be off by 0.00031 times the sum of the row, all together; in 99 of 100 rows at most 0.00031"},
		{Certificate{Kind: Relative, RowMax: 2e-6}, "worst row: errors of its weights could total 2e-06 times their sum"},
		{Certificate{Kind: Absolute, RowMax: 0.0625}, "worst row: errors of its weights could total 0.063 times their sum"},
		{Certificate{}, "worst row: errors of its weights could total 0 times their sum"},
	} {
		if got := c.certificate.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestPlainUp(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 1: "1", 9.95: "10", 99.1: "100", 12.3: "13", 1e6: "1000000", 0.000101: "0.00011", 1.01e-7: "1.1e-07", math.Inf(1): "+Inf"} {
		if got := plainUp(x); got != want {
			t.Errorf("%g: %q, want %q", x, got, want)
		}
	}
}
