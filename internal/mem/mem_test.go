package mem

import (
	"runtime/debug"
	"testing"
)

func TestAvailableHonoursTheGoMemoryLimit(t *testing.T) {
	if Available() <= 0 {
		t.Fatalf("Available() = %d", Available())
	}
	old := debug.SetMemoryLimit(123 << 20)
	defer debug.SetMemoryLimit(old)
	if got := Available(); got > 123<<20 {
		t.Errorf("Available() = %d above the limit of 123 MiB", got)
	}
}

func TestMeminfoAvailable(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"MemTotal:  100 kB\nMemAvailable:   64 kB\n", 65536, true},
		{"MemTotal:  100 kB\n", 0, false},
		{"MemAvailable: what kB\n", 0, false},
	} {
		got, ok := meminfoAvailable([]byte(c.in))
		if ok != c.ok || (ok && got != c.want) {
			t.Errorf("%q: %d, %v, want %d, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}
