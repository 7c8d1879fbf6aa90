package measure

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
)

func TestTellingLine(t *testing.T) {
	for text, want := range map[string]string{
		"":           "",
		"one\ntwo\n": "two",
		"x.cpp:1:10: fatal error: a.h: No such file\n   1 | #include\ncompilation terminated.\n": "x.cpp:1:10: fatal error: a.h: No such file",
	} {
		if got := tellingLine(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWithChoices(t *testing.T) {
	for _, c := range [][3]string{{"", "gather=off", "gather=off"}, {"avx512", "gather=on", "avx512,gather=on"}} {
		if got := withChoices(c[0], c[1]); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
	got := SameChoices([]string{"A=1"})
	if want := map[bool]int{true: 2, false: 1}[simd.Measured()]; len(got) != want {
		t.Errorf("%q", got)
	}
}
