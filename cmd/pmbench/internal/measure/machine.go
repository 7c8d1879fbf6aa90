package measure

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// counterNote says whether instructions can be counted, and if not, why.
func counterNote() string {
	c, err := openCounters()
	if err != nil {
		return "none (" + err.Error() + ")"
	}
	c.close()
	return "instructions"
}

// Level names the instructions the engine's inner loops are made of.
func Level() string { return simd.Best().String() }

// Machine reads what the system says about itself.
func Machine() *record.Machine {
	m := &record.Machine{
		CPU: "unknown", Cores: runtime.NumCPU(), GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, Go: runtime.Version(),
		Processor: thisProcessor(), Level: Level(), Asked: os.Getenv("PM_SIMD"), Counters: counterNote(), Commit: commit(),
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

// parseSize reads a size such as 48K, 0 for other text.
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

// thisProcessor returns what the processor says of itself, nil where neither it nor the
// system says.
func thisProcessor() *record.Processor {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info = nil // another system
	}
	return processorOf(&cpuid.CPU, string(info))
}

// processorOf takes the numbers of a core for arm64 from the system's file about the
// processor, where it has them: package cpuid reads the same register there, but gives it
// as a family and a model that the tables do not have. Other processors are recognised by cpuid.
func processorOf(cpu *cpuid.CPUInfo, info string) *record.Processor {
	if p := armProcessor(info); p != nil {
		return p
	}
	if cpu.Family > 0 && cpu.VendorString != "" {
		return &record.Processor{Vendor: cpu.VendorString, Family: cpu.Family, Model: cpu.Model, Stepping: cpu.Stepping}
	}
	return nil
}

// armProcessor reads implementer and part from the system's file about the processor. Of
// several kinds of cores it takes the first. It returns nil where a number is missing.
func armProcessor(info string) *record.Processor {
	numbers := map[string]int{}
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(line, ":")
		key = strings.TrimSpace(key)
		if _, seen := numbers[key]; seen || key != "CPU implementer" && key != "CPU part" {
			continue
		}
		if v, err := strconv.ParseUint(strings.TrimSpace(value), 0, 16); err == nil {
			numbers[key] = int(v)
		}
	}
	p := &record.Processor{Implementer: numbers["CPU implementer"], Part: numbers["CPU part"]}
	if p.Implementer == 0 || p.Part == 0 {
		return nil
	}
	return p
}
