package mechanism

import (
	"crypto/sha256"
	"errors"
	"math"
	"strings"
	"testing"
)

func TestHead(t *testing.T) {
	for _, sequence := range []uint64{0, 7, math.MaxUint64} {
		want := sha256.Sum256([]byte{byte(sequence)})
		got, hash, err := ParseHead(FormatHead(sequence, want))
		if err != nil || got != sequence || hash != want {
			t.Errorf("%d: %d, %x, %v", sequence, got, hash, err)
		}
	}
	digits := strings.Repeat("0a", sha256.Size)
	for _, text := range []string{"", ":", "1", "1:", ":" + digits, "1:" + digits[2:], "1:" + digits + "00", "-1:" + digits, "1:" + digits[1:] + "g", "1 :" + digits} {
		if _, _, err := ParseHead(text); !errors.Is(err, ErrParam) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
