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

func TestField(t *testing.T) {
	for _, c := range []struct {
		in, name string
		want     int64
		ok       bool
	}{
		{"MemTotal:  100 kB\nMemAvailable:   64 kB\n", "MemAvailable:", 64, true},
		{"anon 7\ninactive_file 12\n", "inactive_file", 12, true},
		{"MemTotal:  100 kB\n", "MemAvailable:", 0, false},
		{"MemAvailable: what kB\n", "MemAvailable:", 0, false},
		{"MemAvailable:\n", "MemAvailable:", 0, false},
	} {
		got, ok := field([]byte(c.in), c.name)
		if ok != c.ok || (ok && got != c.want) {
			t.Errorf("%q: %d, %v, want %d, %v", c.in, got, ok, c.want, c.ok)
		}
	}
}
