package record

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A Machine says where a figure was measured and what that machine can do at
// most. Limits are measured in the same run as the figures; those left out by
// -no-limits are 0.
type Machine struct {
	CPU string `json:"cpu"` // its name for the market
	// Processor is nil in recordings from before it was recorded.
	Processor *Processor `json:"processor,omitempty"`
	Cores     int        `json:"cores"`
	GOOS      string     `json:"goos"`
	GOARCH    string     `json:"goarch"`
	Go        string     `json:"go"`
	Level     string     `json:"level"`
	// Choices are those between the loops of the level, and ChoicesFrom says whether they
	// were measured or asked for by PM_SIMD; see cli.Choices. Recordings made before there
	// were choices have none.
	Choices     string `json:"choices,omitempty"`
	ChoicesFrom string `json:"choices_from,omitempty"`
	Asked       string `json:"pm_simd,omitempty"` // the variable PM_SIMD
	L1          int64  `json:"l1_bytes,omitempty"`
	L2          int64  `json:"l2_bytes,omitempty"`
	L3          int64  `json:"l3_bytes,omitempty"`
	Memory      int64  `json:"memory_bytes,omitempty"`
	HugePages   string `json:"huge_pages,omitempty"`
	Kernel      string `json:"kernel,omitempty"`
	Governor    string `json:"governor,omitempty"`
	Load        string `json:"load,omitempty"`
	Counters    string `json:"counters"` // "instructions", or why there are none
	Commit      string `json:"commit"`
	Limits      Limits `json:"limits"`

	folders []string // that its recording was in, the outermost first
}

// Limits are what the machine can do at most. Index 0 is one worker, index 1
// all of them.
type Limits struct {
	// Read is bytes per second of reading an array much larger than the caches,
	// of ArrayBytes: all its words or one of each line of 64 bytes, whichever is
	// faster.
	Read       [2]float64 `json:"read_bytes_per_s"`
	ArrayBytes int64      `json:"array_bytes"`
	// Gather is rows per second of 64 bytes each, read in random order from
	// that array.
	Gather [2]float64 `json:"gather_rows_per_s"`
	// Madd is scalar multiply-adds per second of compiled Go. There is no
	// vector limit here: portable Go has no vector instructions.
	Madd [2]float64 `json:"scalar_madd_per_s"`
}

// Busy reports whether others keep a good part of the machine busy.
func (m *Machine) Busy() bool {
	load, err := strconv.ParseFloat(m.Load, 64)
	return err == nil && load > float64(m.Cores)/2
}

// lines returns the machine as lines of the Go benchmark format.
func (m *Machine) lines() []string {
	out := []string{"cpu: " + m.CPU, "family: " + m.Family(), fmt.Sprintf("cores: %d", m.Cores), "go: " + m.Go, "level: " + m.Level, "commit: " + m.Commit}
	for _, kv := range [][2]string{{"choices", m.Choices}, {"choices-from", m.ChoicesFrom}, {"kernel", m.Kernel}, {"governor", m.Governor}, {"hugepages", m.HugePages}, {"counters", m.Counters}} {
		if kv[1] != "" {
			out = append(out, kv[0]+": "+kv[1])
		}
	}
	for i, workers := range []int{1, m.Cores} {
		if m.Limits.Read[i] > 0 {
			out = append(out, fmt.Sprintf("read-bandwidth-%d: %.4g GB/s", workers, m.Limits.Read[i]/1e9))
			out = append(out, fmt.Sprintf("gather-%d: %.4g Grows/s", workers, m.Limits.Gather[i]/1e9))
			out = append(out, fmt.Sprintf("scalar-madd-%d: %.4g G/s", workers, m.Limits.Madd[i]/1e9))
		}
	}
	return out
}

// String says in a few words what the limits are.
func (m *Machine) String() string {
	s := fmt.Sprintf("%s, %d cores, level %s", m.words(), m.Cores, m.SettingWords())
	if m.Limits.Read[0] > 0 {
		s += fmt.Sprintf("; read %.1f and %.1f GB/s, gather %.0f and %.0f Mrows/s, %.2f and %.2f G multiply-adds/s (1 and all workers)",
			m.Limits.Read[0]/1e9, m.Limits.Read[1]/1e9, m.Limits.Gather[0]/1e6, m.Limits.Gather[1]/1e6, m.Limits.Madd[0]/1e9, m.Limits.Madd[1]/1e9)
	}
	return s
}

// Family names the processors that a section of a report is of: the design of the
// processor, or, in recordings that do not hold it, the family that a folder they are in
// is named for. Where no folder is named for a family, it is the name for the market, after
// the name of the first folder.
func (m *Machine) Family() string {
	if m.Processor.known() {
		return m.Processor.familyName()
	}
	for _, folder := range slices.Backward(m.folders) {
		if name := familyOfFolder(folder); name != "" {
			return name
		}
	}
	if len(m.folders) > 0 && m.folders[0] != slug(m.CPU) {
		return m.folders[0] + ": " + m.CPU
	}
	return m.CPU
}

// ProcessorWords are the name for the market and what the processor says of itself.
func (m *Machine) ProcessorWords() string {
	if !m.Processor.known() {
		return m.CPU
	}
	return m.CPU + ", " + m.Processor.String()
}

// words are the family and the name for the market.
func (m *Machine) words() string {
	if name := m.Family(); name != m.CPU {
		return name + " (" + m.CPU + ")"
	}
	return m.CPU
}

// RecordedIn notes the folders between the one of a report and a recording in it.
func (m *Machine) RecordedIn(folder, path string) {
	below, err := filepath.Rel(folder, filepath.Dir(path))
	if m == nil || err != nil || below == "." {
		return
	}
	m.folders = strings.Split(filepath.ToSlash(below), "/")
}

// Setting names the instructions that the figures of a recording were made with: the
// level and the choices between its loops, as PM_SIMD has them.
func (m *Machine) Setting() string {
	if m.Choices == "" {
		return m.Level
	}
	return m.Level + "," + m.Choices
}

// SettingWords adds where the choices come from.
func (m *Machine) SettingWords() string { return cli.SettingWords(m.Level, m.Choices, m.ChoicesFrom) }

// SettingOf names the level of a measurement, with the choices of its machine where the
// recording has them.
func SettingOf(level string, m *Machine) string {
	if m == nil || m.Level != level {
		return level
	}
	return m.SettingWords()
}
