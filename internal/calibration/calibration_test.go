package calibration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// The file is used only if it is whole and of this machine.
func TestTheFile(t *testing.T) {
	folder := t.TempDir()
	read := func() kernel.Calibration { return keptIn(folder, simd.Generic) }
	if first := read(); !measured(first) {
		t.Errorf("measured %+v", first)
	}
	path := filepath.Join(folder, "privatemail", "calibration-generic.json")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mark := func(version, level string) string {
		return `{"version":` + version + `,"cpu":` + cpuOf(t, data) + `,"level":"` + level + `","factors":{"scalar":128,"vector":1,"sparse":1}}`
	}
	write(mark("2", "generic"))
	if read() != (kernel.Calibration{Scalar: 128, Vector: 1, Sparse: 1}) {
		t.Error("the file is not read")
	}
	for _, text := range []string{mark("1", "generic"), mark("2", "avx2"), "", "{", `{"version":2}`, strings.Replace(mark("2", "generic"), "128", "181", 1)} {
		write(text)
		if got := read(); got.Scalar == 128 || got.Scalar == 181 {
			t.Errorf("believed %q", text)
		}
		if again, err := os.ReadFile(path); err != nil || len(again) < 20 {
			t.Errorf("%q was not replaced: %q, %v", text, again, err)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// Without a folder, or with one that cannot be made, the machine is measured.
func TestNoFolder(t *testing.T) {
	occupied := filepath.Join(t.TempDir(), "occupied")
	if err := os.WriteFile(occupied, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", occupied} {
		if got := keptIn(folder, simd.Generic); !measured(got) {
			t.Errorf("%q: %+v", folder, got)
		}
	}
}

// cpuOf returns the name of the processor as a file has it.
func cpuOf(t *testing.T, data []byte) string {
	t.Helper()
	var file struct{ CPU json.RawMessage }
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	return string(file.CPU)
}
