package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
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

// describeMachine reads what the system says about itself.
func describeMachine() *Machine {
	m := &Machine{
		CPU: "unknown", Cores: runtime.NumCPU(), GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Go: runtime.Version(),
		Processor: thisProcessor(), Level: level(), Asked: os.Getenv("PM_SIMD"), Counters: counterNote(), Commit: commit(),
	}
	m.Choices, m.ChoicesFrom = cli.Choices()
	if name := processorName(); name != "" {
		m.CPU = name
	}
	for _, c := range []struct {
		index string
		p     *int64
	}{{"0", &m.L1}, {"2", &m.L2}, {"3", &m.L3}} {
		*c.p = parseSize(firstLine("/sys/devices/system/cpu/cpu0/cache/index" + c.index + "/size"))
	}
	m.Memory = totalMemory()
	if pages := firstLine("/sys/kernel/mm/transparent_hugepage/enabled"); pages != "" {
		if _, rest, ok := strings.Cut(pages, "["); ok {
			m.HugePages, _, _ = strings.Cut(rest, "]")
		}
	}
	m.Kernel = firstLine("/proc/sys/kernel/osrelease")
	m.Governor = firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	m.Load, _, _ = strings.Cut(firstLine("/proc/loadavg"), " ")
	return m
}

// busy tells whether others keep a good part of the machine busy.
func (m *Machine) busy() bool {
	load, err := strconv.ParseFloat(m.Load, 64)
	return err == nil && load > float64(m.Cores)/2
}

// lines returns the machine as lines of the Go benchmark format.
func (m *Machine) lines() []string {
	out := []string{"cpu: " + m.CPU, "family: " + m.family(), fmt.Sprintf("cores: %d", m.Cores), "go: " + m.Go, "level: " + m.Level, "commit: " + m.Commit}
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
	s := fmt.Sprintf("%s, %d cores, level %s", m.words(), m.Cores, m.settingWords())
	if m.Limits.Read[0] > 0 {
		s += fmt.Sprintf("; read %.1f and %.1f GB/s, gather %.0f and %.0f Mrows/s, %.2f and %.2f G multiply-adds/s (1 and all workers)",
			m.Limits.Read[0]/1e9, m.Limits.Read[1]/1e9, m.Limits.Gather[0]/1e6, m.Limits.Gather[1]/1e6, m.Limits.Madd[0]/1e9, m.Limits.Madd[1]/1e9)
	}
	return s
}

func processorName() string {
	switch runtime.GOOS {
	case "linux":
		info, _ := os.ReadFile("/proc/cpuinfo")
		for line := range strings.Lines(string(info)) {
			if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
				return strings.TrimSpace(value)
			}
		}
	case "darwin":
		out, _ := exec.Command("sysctl", "-n", "machdep.cpu.brand_string").Output()
		return strings.TrimSpace(string(out))
	}
	return os.Getenv("PROCESSOR_IDENTIFIER")
}

func totalMemory() int64 {
	info, _ := os.ReadFile("/proc/meminfo")
	for line := range strings.Lines(string(info)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

func firstLine(path string) string {
	b, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// parseSize reads a size such as 48K, 0 for what is none.
func parseSize(s string) int64 {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	}
	v, _ := strconv.ParseInt(strings.TrimRight(s, "KM"), 10, 64)
	return v << shift
}

// commit says what this program was built from: the revision stamped into it,
// or that of the folder it runs in when there is no stamp (go run).
func commit() string {
	built := cli.ReadVersion()
	revision, modified := built.Revision, built.Modified
	if revision == "" {
		out, err := exec.Command("git", "rev-parse", "HEAD").Output()
		if err != nil {
			return "unknown"
		}
		revision = strings.TrimSpace(string(out))
		changes, err := exec.Command("git", "status", "--porcelain").Output()
		modified = err != nil || len(changes) > 0
	}
	if modified {
		revision += "+modified"
	}
	return revision
}
