package text

import (
	"math"
	"testing"
)

func TestFormatSize(t *testing.T) {
	for bytes, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 3 << 19: "1.5 MiB", 5 << 40: "5 TiB", math.MaxInt64: "8 EiB",
	} {
		if got := FormatSize(bytes); got != want {
			t.Errorf("%d: %q, want %q", bytes, got, want)
		}
	}
}
