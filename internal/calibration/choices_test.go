package calibration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// choose returns the choices of a process on a machine where a measurement finds the given
// ones, and how often it measures.
func choose(folder, machine, found string, clear bool) (choices string, measurements int) {
	choices = choicesIn(folder, machine, func() (string, bool) { measurements++; return found, clear })
	return choices, measurements
}

// If the measurement of one process is clear, the next processes use its choices, whatever they
// would measure.
func TestProcessesChooseAlike(t *testing.T) {
	folder := t.TempDir()
	for i, c := range []struct {
		machine, found string
		clear          bool
		want           string
		measurements   int
	}{
		{"one", "gather=on", false, "gather=on", 1}, // nothing is kept
		{"one", "gather=off", true, "gather=off", 1},
		{"one", "gather=on", true, "gather=off", 0},
		{"one", "gather=on", false, "gather=off", 0},
		{"new microcode", "gather=on", true, "gather=on", 1},
		{"new microcode", "gather=off", true, "gather=on", 0},
	} {
		if got, n := choose(folder, c.machine, c.found, c.clear); got != c.want || n != c.measurements {
			t.Errorf("process %d: %s after %d measurements, want %s after %d", i, got, n, c.want, c.measurements)
		}
	}
	entries, err := os.ReadDir(filepath.Join(folder, "privatemail"))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A file that is damaged or has impossible choices is replaced by a new measurement.
func TestDamagedChoices(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "privatemail", "calibration-choices.json")
	choose(folder, "m", "gather=off", true)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := func(version int, machine, choices string) string {
		return fmt.Sprintf(`{"version":%d,"machine":%q,"choices":%q}`, version, machine, choices)
	}
	if string(whole) != text(choicesVersion, "m", "gather=off") {
		t.Fatalf("the file is %s", whole)
	}
	for _, damaged := range []string{
		"", "{", "null", "[]", string(whole[:len(whole)/2]), text(choicesVersion+1, "m", "gather=on"), text(choicesVersion, "n", "gather=on"),
		text(choicesVersion, "m", ""), text(choicesVersion, "m", "gather=maybe"), text(choicesVersion, "m", "avx2,gather=on"),
		strings.Repeat(" ", mostBytes) + text(choicesVersion, "m", "gather=on"), strings.Repeat("[", 1<<20),
	} {
		if err := os.WriteFile(path, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, n := choose(folder, "m", "gather=off", true); got != "gather=off" || n != 1 {
			t.Errorf("%.60q: %s after %d measurements", damaged, got, n)
		}
		if again, err := os.ReadFile(path); err != nil || string(again) != string(whole) {
			t.Errorf("%.60q was not replaced: %q, %v", damaged, again, err)
		}
	}
}

// If nothing can be kept, every process measures once and goes on.
func TestChoicesWithoutAPlace(t *testing.T) {
	occupied := filepath.Join(t.TempDir(), "occupied")
	if err := os.WriteFile(occupied, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir() // there is a folder with the name of the file
	if err := os.MkdirAll(filepath.Join(folder, "privatemail", "calibration-choices.json", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"", occupied, folder} {
		for range 2 {
			if got, n := choose(place, "m", "gather=off", true); got != "gather=off" || n != 1 {
				t.Errorf("%q: %s after %d measurements", place, got, n)
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(folder, "privatemail"))
	if err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// The name of a machine is the same each time, and says which processor it is.
func TestMachineNow(t *testing.T) {
	if a, b := machineNow(), machineNow(); a != b || !strings.Contains(a, "family ") {
		t.Errorf("%q and %q", a, b)
	}
}
