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

// choicesVersion changes with the loops that package simd chooses between and with its probe.
// Builds with the same loops share a file, so that two builds that are compared do not choose
// differently.
const choicesVersion = 1

// A choicesFile has the choices between loops that were measured on one machine.
type choicesFile struct {
	Version int    `json:"version"`
	Machine string `json:"machine"`
	Choices string `json:"choices"`
}

// KeepChoices keeps the choices that package simd measures in a file of the user's cache
// folder (os.UserCacheDir), so that all processes of a user on one machine make the same
// choices. A file that is damaged or of another processor, microcode or version is replaced. A
// file that cannot be read or written costs a measurement of at most a few milliseconds. Call
// it first in a main function.
func KeepChoices() {
	simd.KeepChoices(func(measure func() (string, bool)) string {
		folder, err := os.UserCacheDir()
		if err != nil {
			folder = ""
		}
		return choicesIn(folder, machineNow(), measure)
	})
}

// choicesIn returns the choices that a cache folder has for a machine, or measures them.
// folder is "" if there is none. Measured choices are kept if the measurement is clear.
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

// choicesPath returns the path of the choices in a cache folder.
func choicesPath(folder string) string {
	return filepath.Join(folder, "privatemail", "calibration-choices.json")
}

// SaveChoices writes choices into a cache folder as if they had been measured on this machine,
// for tests of commands.
func SaveChoices(folder, choices string) {
	save(choicesPath(folder), choicesFile{Version: choicesVersion, Machine: machineNow(), Choices: choices})
}

// knownChoices reports whether package simd could have measured the choices of a file.
func knownChoices(choices string) bool { return choices == "gather=on" || choices == "gather=off" }

// machineNow names what the choices depend on: the processor with its model and stepping,
// and, if known, its microcode and what the system says about gathers. Microcode makes them
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
