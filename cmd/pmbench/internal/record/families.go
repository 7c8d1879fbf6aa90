package record

import (
	"cmp"
	"fmt"
	"strings"
)

// A Processor says which design of processor a figure was measured on, as the processor
// itself gives: names for the market do not say it. On arm64 the system gives Implementer and
// Part instead.
type Processor struct {
	Vendor      string `json:"vendor,omitempty"`
	Family      int    `json:"family,omitempty"`
	Model       int    `json:"model,omitempty"`
	Stepping    int    `json:"stepping,omitempty"`
	Implementer int    `json:"implementer,omitempty"`
	Part        int    `json:"part,omitempty"`
}

// A family is a design of processors. Those of one family run the same instructions in
// the same time, except for clock and caches.
type family struct {
	name       string
	vendor     string
	family     int
	low, high  int // models, both included
	from, upTo int // steppings, where they matter: upTo is 0 where they do not
}

const (
	intel = "GenuineIntel"
	amd   = "AuthenticAMD"
)

// families lists the designs of servers and of desktops with the same core.
func families() []family {
	return []family{
		{name: "Haswell", vendor: intel, family: 6, low: 60, high: 60},
		{name: "Haswell", vendor: intel, family: 6, low: 63, high: 63},
		{name: "Haswell", vendor: intel, family: 6, low: 69, high: 70},
		{name: "Broadwell", vendor: intel, family: 6, low: 61, high: 61},
		{name: "Broadwell", vendor: intel, family: 6, low: 71, high: 71},
		{name: "Broadwell", vendor: intel, family: 6, low: 79, high: 79},
		{name: "Broadwell", vendor: intel, family: 6, low: 86, high: 86},
		{name: "Skylake", vendor: intel, family: 6, low: 78, high: 78},
		{name: "Skylake", vendor: intel, family: 6, low: 94, high: 94},
		{name: "Skylake-X", vendor: intel, family: 6, low: 85, high: 85, from: 0, upTo: 4},
		{name: "Cascade Lake", vendor: intel, family: 6, low: 85, high: 85, from: 5, upTo: 7},
		{name: "Cooper Lake", vendor: intel, family: 6, low: 85, high: 85, from: 10, upTo: 11},
		{name: "Ice Lake server", vendor: intel, family: 6, low: 106, high: 106},
		{name: "Ice Lake server", vendor: intel, family: 6, low: 108, high: 108},
		{name: "Sapphire Rapids", vendor: intel, family: 6, low: 143, high: 143},
		{name: "Emerald Rapids", vendor: intel, family: 6, low: 207, high: 207},
		{name: "Granite Rapids", vendor: intel, family: 6, low: 173, high: 174},
		{name: "Zen", vendor: amd, family: 23, low: 0x00, high: 0x07},
		{name: "Zen+", vendor: amd, family: 23, low: 0x08, high: 0x0f},
		{name: "Zen", vendor: amd, family: 23, low: 0x10, high: 0x17},
		{name: "Zen+", vendor: amd, family: 23, low: 0x18, high: 0x1f},
		{name: "Zen", vendor: amd, family: 23, low: 0x20, high: 0x2f},
		{name: "Zen 2", vendor: amd, family: 23, low: 0x30, high: 0xaf},
		{name: "Zen 3", vendor: amd, family: 25, low: 0x00, high: 0x0f},
		{name: "Zen 4", vendor: amd, family: 25, low: 0x10, high: 0x1f},
		{name: "Zen 3", vendor: amd, family: 25, low: 0x20, high: 0x5f},
		{name: "Zen 4", vendor: amd, family: 25, low: 0x60, high: 0xaf},
		{name: "Zen 5", vendor: amd, family: 26, low: 0x00, high: 0x4f},
		{name: "Zen 5", vendor: amd, family: 26, low: 0x60, high: 0x7f},
	}
}

// A part is a core for arm64.
type part struct {
	name              string
	implementer, part int
}

func parts() []part {
	return []part{
		{"Cortex-A72", 0x41, 0xd08},
		{"Neoverse N1", 0x41, 0xd0c},
		{"Neoverse V1", 0x41, 0xd40},
		{"Neoverse N2", 0x41, 0xd49},
		{"Neoverse V2", 0x41, 0xd4f},
		{"Cortex-A76", 0x41, 0xd0b},
		{"Ampere-1", 0xc0, 0xac3},
		{"Ampere-1A", 0xc0, 0xac4},
	}
}

// known reports whether there is anything to go by.
func (p *Processor) known() bool { return p != nil && (p.Vendor != "" || p.Implementer != 0) }

// familyName names the design of a processor that is known. One that the tables lack is
// named by its numbers.
func (p *Processor) familyName() string {
	for _, f := range families() {
		if p.Vendor == f.vendor && p.Family == f.family && p.Model >= f.low && p.Model <= f.high &&
			(f.upTo == 0 || p.Stepping >= f.from && p.Stepping <= f.upTo) {
			return f.name
		}
	}
	for _, a := range parts() {
		if p.Vendor == "" && p.Implementer == a.implementer && p.Part == a.part {
			return a.name
		}
	}
	return p.String()
}

// String is what the processor says of itself.
func (p *Processor) String() string {
	if p.Vendor == "" {
		return fmt.Sprintf("implementer 0x%x part 0x%x", p.Implementer, p.Part)
	}
	text := fmt.Sprintf("%s family %d model %d", p.Vendor, p.Family, p.Model)
	if p.stepped() {
		text += fmt.Sprintf(" stepping %d", p.Stepping)
	}
	return text
}

// stepped reports whether designs of this family and model differ by the stepping.
func (p *Processor) stepped() bool {
	for _, f := range families() {
		if f.upTo > 0 && p.Vendor == f.vendor && p.Family == f.family && p.Model >= f.low && p.Model <= f.high {
			return true
		}
	}
	return false
}

// familyOfFolder returns the family that a folder of recordings is named for, "" if it is
// named for none.
func familyOfFolder(folder string) string {
	for _, f := range families() {
		if slug(f.name) == folder {
			return f.name
		}
	}
	for _, a := range parts() {
		if slug(a.name) == folder {
			return a.name
		}
	}
	return ""
}

// slug turns a name into one for a folder: letters and digits in lower case, + and dashes.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '+'
	})
	return cmp.Or(strings.Join(words, "-"), "unknown")
}
