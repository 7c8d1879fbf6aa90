package measure

import (
	"math"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/klauspost/cpuid/v2"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// The file of the system is read, and a malformed one is ignored.
func TestARMProcessor(t *testing.T) {
	info := "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\nprocessor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd49\n"
	if p := armProcessor(info); p == nil || (&record.Machine{Processor: p}).Family() != "Neoverse N1" {
		t.Errorf("%+v", p)
	}
	for _, info := range []string{"", "CPU implementer : 0x41", "CPU implementer : x\nCPU part : 0xd0c", "CPU part : 0xd0c", strings.Repeat(":", 1000)} {
		if p := armProcessor(info); p != nil {
			t.Errorf("%q: %+v", info, p)
		}
	}
}

// The file of the system goes before package cpuid, which gives a core for arm64 a family
// and a model of its own; where the file says nothing, cpuid is asked.
func TestProcessorOfBothSources(t *testing.T) {
	arm := "CPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
	amd64 := "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nstepping\t: 7\n"
	neoverse := cpuid.CPUInfo{VendorString: "Arm Limited", Family: 0x3f, Model: 0xd0c1}
	lake := cpuid.CPUInfo{VendorString: "GenuineIntel", Family: 6, Model: 85, Stepping: 7}
	for name, c := range map[string]struct {
		cpu  cpuid.CPUInfo
		info string
		want string
	}{
		"arm64, both":               {neoverse, arm, "Neoverse N1"},
		"arm64, the file only":      {cpuid.CPUInfo{}, arm, "Neoverse N1"},
		"arm64, cpuid only":         {neoverse, "", "Arm Limited family 63 model 53441"},
		"amd64, both":               {lake, amd64, "Cascade Lake"},
		"amd64, no file":            {lake, "", "Cascade Lake"},
		"neither":                   {cpuid.CPUInfo{}, "", ""},
		"the maker without numbers": {cpuid.CPUInfo{VendorString: "Apple"}, "", ""},
	} {
		p := processorOf(&c.cpu, c.info)
		if (p == nil) != (c.want == "") || p != nil && (&record.Machine{Processor: p}).Family() != c.want {
			t.Errorf("%s: %v, want %q", name, p, c.want)
		}
	}
}

func TestLimits(t *testing.T) {
	l := testLab(t)
	workers := l.Workers(2)
	array := make([]uint64, 1<<16)
	for name, rate := range map[string]func() (float64, error){
		"read":   func() (float64, error) { return readRate(t.Context(), workers, array) },
		"gather": func() (float64, error) { return gatherRate(t.Context(), workers, array) },
		"madd":   func() (float64, error) { return maddRate(t.Context(), workers) },
	} {
		if got, err := rate(); err != nil || !(got > 1e5) || math.IsInf(got, 0) {
			t.Errorf("%s: %g, %v", name, got, err)
		}
	}
	for _, c := range []struct{ cache, available, want int64 }{
		{0, 1 << 40, 256 << 20}, {300 << 20, 1 << 40, 1200 << 20}, {1 << 40, 1 << 40, 2 << 30}, {300 << 20, 1 << 30, 256 << 20}, {0, 0, 1 << 20},
	} {
		if got := arrayBytes(c.cache, c.available); got != min(c.want, math.MaxInt/8) { // no array is longer
			t.Errorf("array for a cache of %d and memory of %d: %d, want %d", c.cache, c.available, got, c.want)
		}
	}
}

func TestReadLoops(t *testing.T) {
	a := make([]uint64, 3*32+7)
	for i := range a {
		a[i] = 1 << (i % 8 * 8)
	}
	if got, want := sumWords(a), uint64(12*0x0101010101010101); got != want {
		t.Errorf("sum of all words %#x, want %#x", got, want)
	}
	if got := SumLines(a); got != 12 {
		t.Errorf("sum over %#x lines, want 12", got)
	}
}

func TestMachine(t *testing.T) {
	m := Machine()
	if m.CPU == "" || m.Cores < 1 || m.Commit == "" || m.Counters == "" || m.Level == "" {
		t.Errorf("%+v", m)
	}
	for load, busy := range map[string]bool{"0.50": false, "1.01": true, "": false} {
		if got := (&record.Machine{Cores: 2, Load: load}).Busy(); got != busy {
			t.Errorf("load %q: %v", load, got)
		}
	}
	for s, want := range map[string]int64{"48K": 48 << 10, "2M": 2 << 20, "17": 17, "": 0, "x": 0} {
		if got := parseSize(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

func TestMemory(t *testing.T) {
	debug.FreeOSMemory() // or the runtime hands out what is resident already
	before := resetPeak()
	b := make([]byte, 64<<20)
	for i := 0; i < len(b); i += 4096 {
		b[i] = 1
	}
	if got := peakMemory() - before; got < 48<<20 {
		t.Errorf("64 MiB raised the peak by %d", got)
	}
	if b[0] != 1 {
		t.Error("unreachable")
	}
}

func TestShareStolen(t *testing.T) {
	for _, c := range []struct {
		before, after processorTimes
		want          *float64
	}{
		{processorTimes{100, 10}, processorTimes{190, 20}, figures.Finite(0.1)},
		{processorTimes{100, 10}, processorTimes{100, 10}, figures.Finite(0)},
		{processorTimes{100, 10}, processorTimes{100, 20}, figures.Finite(1)},
		{processorTimes{100, 10}, processorTimes{90, 5}, figures.Finite(0)}, // counters of some systems go back
		{processorTimes{100, 10}, unknownTimes, nil},
		{unknownTimes, unknownTimes, nil},
	} {
		var sum processorTimes
		sum.add(c.before, c.after)
		sum.add(processorTimes{}, processorTimes{})
		if got := sum.share(); (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%+v: %v", c, figures.Optional(got, "%g"))
		}
	}
}

// The machine of a recording has the choices that are in use.
func TestMachineHasChoices(t *testing.T) {
	m := Machine()
	if want := simd.At(simd.Best()).Choices(); m.Choices != want || (m.ChoicesFrom == "") != (want == "") {
		t.Errorf("choices %q from %q, want %q", m.Choices, m.ChoicesFrom, want)
	}
	if !regexp.MustCompile(`^(measured|PM_SIMD)?$`).MatchString(m.ChoicesFrom) {
		t.Errorf("choices from %q", m.ChoicesFrom)
	}
}
