package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// thisProcessor returns what the processor says of itself, nil where neither it nor the
// system tells.
func thisProcessor() *Processor {
	if cpu := &cpuid.CPU; cpu.Family > 0 && cpu.VendorString != "" {
		return &Processor{Vendor: cpu.VendorString, Family: cpu.Family, Model: cpu.Model, Stepping: cpu.Stepping}
	}
	if runtime.GOARCH != "arm64" {
		return nil
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return nil
	}
	return armProcessor(string(info))
}

// armProcessor reads implementer and part from the system's file about the processor. Of
// several kinds of cores it takes the first. It returns nil where a number is missing.
func armProcessor(info string) *Processor {
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
	p := &Processor{Implementer: numbers["CPU implementer"], Part: numbers["CPU part"]}
	if p.Implementer == 0 || p.Part == 0 {
		return nil
	}
	return p
}
