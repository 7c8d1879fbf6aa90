//go:build unix

package calibration

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A pipe in place of the file does not block.
func TestPipes(t *testing.T) {
	folder := t.TempDir()
	own := filepath.Join(folder, "privatemail")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"calibration-choices.json", "calibration-generic.json"} {
		if err := syscall.Mkfifo(filepath.Join(own, name), 0o600); err != nil {
			t.Skip(err)
		}
	}
	if got, n := choose(folder, "m", "gather=off", true); got != "gather=off" || n != 1 {
		t.Errorf("%s after %d measurements", got, n)
	}
	if got := keptIn(folder, simd.Generic); got == (kernel.Calibration{}) {
		t.Error("nothing was measured")
	}
}
