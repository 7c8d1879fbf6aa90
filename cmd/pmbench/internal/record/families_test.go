package record

import (
	"testing"
)

func TestFamilyNames(t *testing.T) {
	for _, c := range []struct {
		p    Processor
		want string
	}{
		{Processor{Vendor: intel, Family: 6, Model: 85, Stepping: 4}, "Skylake-X"},
		{Processor{Vendor: intel, Family: 6, Model: 85, Stepping: 5}, "Cascade Lake"},
		{Processor{Vendor: intel, Family: 6, Model: 85, Stepping: 7}, "Cascade Lake"},
		{Processor{Vendor: intel, Family: 6, Model: 85, Stepping: 8}, "GenuineIntel family 6 model 85 stepping 8"},
		{Processor{Vendor: intel, Family: 6, Model: 85, Stepping: 11}, "Cooper Lake"},
		{Processor{Vendor: intel, Family: 6, Model: 106, Stepping: 6}, "Ice Lake server"},
		{Processor{Vendor: intel, Family: 6, Model: 107}, "GenuineIntel family 6 model 107"},
		{Processor{Vendor: intel, Family: 6, Model: 108}, "Ice Lake server"},
		{Processor{Vendor: intel, Family: 6, Model: 143, Stepping: 8}, "Sapphire Rapids"},
		{Processor{Vendor: intel, Family: 6, Model: 207}, "Emerald Rapids"},
		{Processor{Vendor: intel, Family: 6, Model: 173}, "Granite Rapids"},
		{Processor{Vendor: intel, Family: 6, Model: 174}, "Granite Rapids"},
		{Processor{Vendor: intel, Family: 7, Model: 173}, "GenuineIntel family 7 model 173"},
		{Processor{Vendor: amd, Family: 23, Model: 0x01}, "Zen"},
		{Processor{Vendor: amd, Family: 23, Model: 0x08}, "Zen+"},
		{Processor{Vendor: amd, Family: 23, Model: 0x11}, "Zen"},
		{Processor{Vendor: amd, Family: 23, Model: 0x18}, "Zen+"},
		{Processor{Vendor: amd, Family: 23, Model: 0x31}, "Zen 2"},
		{Processor{Vendor: amd, Family: 23, Model: 0x71}, "Zen 2"},
		{Processor{Vendor: amd, Family: 25, Model: 0x01}, "Zen 3"},
		{Processor{Vendor: amd, Family: 25, Model: 0x11}, "Zen 4"},
		{Processor{Vendor: amd, Family: 25, Model: 0x21}, "Zen 3"},
		{Processor{Vendor: amd, Family: 25, Model: 0x5f}, "Zen 3"},
		{Processor{Vendor: amd, Family: 25, Model: 0x61}, "Zen 4"},
		{Processor{Vendor: amd, Family: 25, Model: 0xa0}, "Zen 4"},
		{Processor{Vendor: amd, Family: 26, Model: 0x02}, "Zen 5"},
		{Processor{Vendor: amd, Family: 26, Model: 0x44}, "Zen 5"},
		{Processor{Vendor: amd, Family: 26, Model: 0xff}, "AuthenticAMD family 26 model 255"},
		{Processor{Vendor: "HygonGenuine", Family: 24, Model: 1}, "HygonGenuine family 24 model 1"},
		{Processor{Implementer: 0x41, Part: 0xd0c}, "Neoverse N1"},
		{Processor{Implementer: 0x41, Part: 0xd4f}, "Neoverse V2"},
		{Processor{Implementer: 0x61, Part: 0x22}, "implementer 0x61 part 0x22"},
	} {
		if got := c.p.familyName(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.p, got, c.want)
		}
	}
}

// No processor is of two families, and the folder of a family is of no other.
func TestFamiliesAreApart(t *testing.T) {
	steppings := func(f family) (from, upTo int) {
		if f.upTo == 0 {
			return 0, 1 << 30
		}
		return f.from, f.upTo
	}
	all := families()
	for i, a := range all {
		if a.low > a.high || a.from > a.upTo && a.upTo > 0 {
			t.Errorf("%+v", a)
		}
		for _, b := range all[:i] {
			aFrom, aTo := steppings(a)
			bFrom, bTo := steppings(b)
			if a.vendor == b.vendor && a.family == b.family && a.low <= b.high && b.low <= a.high && aFrom <= bTo && bFrom <= aTo {
				t.Errorf("%+v and %+v overlap", a, b)
			}
			if a.name != b.name && slug(a.name) == slug(b.name) {
				t.Errorf("%s and %s have one folder", a.name, b.name)
			}
		}
		if familyOfFolder(slug(a.name)) != a.name {
			t.Errorf("%s: folder %s is of %q", a.name, slug(a.name), familyOfFolder(slug(a.name)))
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"Cascade Lake": "cascade-lake", "Zen+": "zen+", "avx512,gather=off": "avx512-gather-off", "../../etc": "etc", "": "unknown", "\x00/": "unknown",
		"GenuineIntel family 6 model 1": "genuineintel-family-6-model-1",
	} {
		if got := slug(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A recording holds what the processor says of itself, and the family follows from that,
// whatever the folder; without it from the folder; and from the name at last.
func TestFamilyOfAMachine(t *testing.T) {
	lake := &Processor{Vendor: intel, Family: 6, Model: 85, Stepping: 7}
	for _, c := range []struct {
		m    Machine
		want string
	}{
		{Machine{CPU: "Xeon", Processor: lake}, "Cascade Lake"},
		{Machine{CPU: "Xeon", Processor: lake, folders: []string{"granite-rapids"}}, "Cascade Lake"},
		{Machine{CPU: "Xeon", folders: []string{"granite-rapids"}}, "Granite Rapids"},
		{Machine{CPU: "Xeon", folders: []string{"granite-rapids", "avx2"}}, "Granite Rapids"},
		{Machine{CPU: "Xeon", folders: []string{"mine", "zen-4", "avx2"}}, "Zen 4"},
		{Machine{CPU: "Xeon", folders: []string{"mine"}}, "mine: Xeon"},
		{Machine{CPU: "Apple M1", folders: []string{"apple-m1"}}, "Apple M1"},
		{Machine{CPU: "Xeon", Processor: &Processor{}}, "Xeon"},
		{Machine{CPU: "Xeon"}, "Xeon"},
	} {
		if got := c.m.Family(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.m, got, c.want)
		}
	}
}
