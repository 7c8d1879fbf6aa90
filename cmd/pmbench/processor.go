package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/klauspost/cpuid/v2"
)

// thisProcessor returns what the processor says of itself, nil where neither it nor the
// system tells.
func thisProcessor() *Processor {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		info = nil // another system
	}
	return processorOf(&cpuid.CPU, string(info))
}

// processorOf takes the numbers of a core for arm64 from the system's file about the
// processor, where it has them: package cpuid reads the same register there, but gives it
// as a family and a model that the tables do not have. Other processors are told by cpuid.
func processorOf(cpu *cpuid.CPUInfo, info string) *Processor {
	if p := armProcessor(info); p != nil {
		return p
	}
	if cpu.Family > 0 && cpu.VendorString != "" {
		return &Processor{Vendor: cpu.VendorString, Family: cpu.Family, Model: cpu.Model, Stepping: cpu.Stepping}
	}
	return nil
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
