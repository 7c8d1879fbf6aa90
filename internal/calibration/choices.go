package calibration

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// choicesVersion changes with the loops that package simd chooses between and with what its
// probe compares. Builds that have the same loops share a file: two of them that are compared
// must not choose differently.
const choicesVersion = 1

// A choicesFile has the choices between loops that were measured on one machine.
type choicesFile struct {
	Version int    `json:"version"`
	Machine string `json:"machine"`
	Choices string `json:"choices"`
}

// KeepChoices keeps the choices that package simd measures in a file of the user's cache
// folder (os.UserCacheDir), so that the processes of a user on one machine make the same ones.
// A file that is damaged, of another processor, microcode or version is written again; one that
// cannot be read or written costs a measurement of a few milliseconds at most. Call it first in
// a main function.
func KeepChoices() {
	simd.KeepChoices(func(measure func() (string, bool)) string {
		folder, err := os.UserCacheDir()
		if err != nil {
			folder = ""
		}
		return choicesIn(folder, machineNow(), measure)
	})
}

// choicesIn returns the choices that a cache folder has for a machine, "" when there is none,
// or those that are measured. They are kept where the measurement is clear.
func choicesIn(folder, machine string, measure func() (choices string, clear bool)) string {
	if folder == "" {
		choices, _ := measure()
		return choices
	}
	path := choicesPath(folder)
	var got choicesFile
	want := choicesFile{Version: choicesVersion, Machine: machine}
	if load(path, &got) {
		want.Choices = got.Choices
		if got == want && knownChoices(got.Choices) {
			return got.Choices
		}
	}
	var clear bool
	if want.Choices, clear = measure(); clear {
		save(path, want)
	}
	return want.Choices
}

// choicesPath is where a cache folder has the choices.
func choicesPath(folder string) string {
	return filepath.Join(folder, "privatemail", "calibration-choices.json")
}

// SaveChoices writes choices into a cache folder as if they had been measured on this machine,
// for tests of commands.
func SaveChoices(folder, choices string) {
	save(choicesPath(folder), choicesFile{Version: choicesVersion, Machine: machineNow(), Choices: choices})
}

// knownChoices tells whether a file holds what package simd could have measured.
func knownChoices(choices string) bool { return choices == "gather=on" || choices == "gather=off" }

// machineNow names what the choices depend on: the processor with its model and stepping, and
// its microcode and what the system says of gathers, as far as it does. Microcode makes them
// slow on some models.
func machineNow() string {
	cpu := &cpuid.CPU
	name := fmt.Sprintf("%s %s, family %d model %d stepping %d", runtime.GOARCH, cpu.BrandName, cpu.Family, cpu.Model, cpu.Stepping)
	if runtime.GOOS != "linux" {
		return name
	}
	info, _ := readSmall("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "microcode" {
			name += ", microcode " + strings.TrimSpace(value)
			break
		}
	}
	if sampling, ok := readSmall("/sys/devices/system/cpu/vulnerabilities/gather_data_sampling"); ok {
		name += ", gather data sampling: " + string(bytes.TrimSpace(sampling))
	}
	return name
}
