package simd

import (
	"slices"
	"strings"
	"testing"
)

func TestParseSetting(t *testing.T) {
	for _, c := range []struct {
		value  string
		host   Level
		want   Level
		gather wish
		notes  int
	}{
		{"", AVX512, AVX512, noWish, 0},
		{"generic", AVX512, Generic, noWish, 0},
		{"avx2", AVX512VNNI, AVX2, noWish, 0},
		{"avx512", AVX512VNNI, AVX512, noWish, 0},
		{"avx512vnni", AVX2, AVX2, noWish, 1},
		{"avx512vnni", AMX, AVX512VNNI, noWish, 0},
		{"amx", AMX, AMX, noWish, 0},
		{"amx", AVX512VNNI, AVX512VNNI, noWish, 1},
		{"neon", AMX, Generic, noWish, 1},
		{"amx", NEON, Generic, noWish, 1},
		{"avx2", Generic, Generic, noWish, 1},
		{"neon", AVX2, Generic, noWish, 1},
		{"neon", NEON, NEON, noWish, 0},
		{"generic", NEON, Generic, noWish, 0},
		{"avx2", NEON, Generic, noWish, 1},
		{"AVX2", AVX512, AVX512, noWish, 1},
		{"fast", AVX2, AVX2, noWish, 1},
		// With choices.
		{"avx512,gather=off", AVX512VNNI, AVX512, wishOff, 0},
		{"avx512vnni,gather=on", AMX, AVX512VNNI, wishOn, 0},
		{"gather=off,avx512", AMX, AVX512, wishOff, 0},
		{" avx512 , gather=off ", AMX, AVX512, wishOff, 0},
		{"gather=off", AVX512VNNI, AVX512VNNI, wishOff, 0},
		{"gather=on", AMX, AMX, wishOn, 0},
		{"amx,gather=off", AVX512, AVX512, wishOff, 1},
		// Loops that never gather satisfy gather=off.
		{"gather=off", AVX2, AVX2, wishOff, 0},
		{"avx2,gather=off", AVX512, AVX2, wishOff, 0},
		{"gather=off", NEON, NEON, wishOff, 0},
		{"gather=on", AVX2, AVX2, wishOn, 1},
		{"avx2,gather=on", AVX512, AVX2, wishOn, 1},
		{"gather=on", NEON, NEON, wishOn, 1},
		// A misspelt part is ignored, the rest is not.
		{"avx512,gather=maybe", AVX512VNNI, AVX512, noWish, 1},
		{"avx512,gather", AVX512VNNI, AVX512, noWish, 1},
		{"avx512,gather=", AVX512VNNI, AVX512, noWish, 1},
		{"avx512,gathr=off", AVX512VNNI, AVX512, noWish, 1},
		{"avx512,gather=OFF", AVX512VNNI, AVX512, noWish, 1},
		{"avx513,gather=off", AVX512VNNI, AVX512VNNI, wishOff, 1},
		{"avx512 gather=off", AVX512VNNI, AVX512VNNI, noWish, 1},
		{"avx512,", AVX512VNNI, AVX512, noWish, 1},
		{",", AVX512VNNI, AVX512VNNI, noWish, 1},
		{"avx2,avx512", AVX512VNNI, AVX2, noWish, 1},
		{"gather=off,gather=on", AVX512VNNI, AVX512VNNI, wishOff, 1},
		{"avx2,avx2,gather=off,gather=off,x", AVX512VNNI, AVX2, wishOff, 3},
	} {
		got := parseSetting(c.value, c.host)
		if got.level != c.want || got.gather != c.gather || len(got.notes) != c.notes {
			t.Errorf("PM_SIMD=%q on %v: %v, gather %v, notes %q", c.value, c.host, got.level, got.gather, got.notes)
		}
		for _, note := range got.notes {
			if !strings.Contains(note, "PM_SIMD") {
				t.Errorf("note %q does not name PM_SIMD", note)
			}
		}
	}
}

// A note quotes the ignored part and lists the valid ones.
func TestNotesName(t *testing.T) {
	notes := parseSetting("avx2,gathr=off", AVX512).notes
	if len(notes) != 1 || !strings.Contains(notes[0], `"gathr=off"`) || !strings.Contains(notes[0], "gather=off") || !strings.Contains(notes[0], "avx512vnni") {
		t.Errorf("%q", notes)
	}
}

// String returns the value of PM_SIMD that asks for the kernels.
func TestStringsOfKernelsAreSettings(t *testing.T) {
	for _, s := range All() {
		got := parseSetting(s.String(), host())
		if got.level != s.level || len(got.notes) > 0 {
			t.Errorf("%v: level %v, %q", s, got.level, got.notes)
		}
		if want := map[string]wish{"gather=off": wishOff, "gather=on": wishOn}[s.Choices()]; got.gather != want {
			t.Errorf("%v: gather %v, want %v", s, got.gather, want)
		}
		if want := s.level.String(); s.Choices() == "" && s.String() != want {
			t.Errorf("%v, want %s", s, want)
		}
	}
}

// All has each kernel once, including those in use, and both choices unless PM_SIMD
// asks for one.
func TestAll(t *testing.T) {
	all := All()
	names := map[string]bool{}
	for _, s := range all {
		if names[s.String()] {
			t.Errorf("%v comes twice", s)
		}
		names[s.String()] = true
	}
	for _, level := range Levels() {
		if !slices.Contains(all, At(level)) {
			t.Errorf("At(%v) = %v is not among %v", level, At(level), all)
		}
		if want := asked().gather == noWish; level.gathers() && (names[level.String()+",gather=on"] && names[level.String()+",gather=off"]) != want {
			t.Errorf("choices of %v among %v: both %v, want %v", level, all, !want, want)
		}
	}
}

// choicesOf returns the kernels of a level, one for each of its choices.
func choicesOf(level Level) []*Kernels {
	return slices.DeleteFunc(All(), func(s *Kernels) bool { return s.level != level })
}
