package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/simd"
)

func TestWantsMore(t *testing.T) {
	time := func(c comparison) *comparison { c.name, c.Metric = "X", yardsUnit; return &c }
	cpu := func(c comparison) *comparison { c.name, c.Metric = "X", cpuYardsUnit; return &c }
	memory := func(c comparison) *comparison { c.name, c.Metric = "X", "peak-B"; return &c }
	const noisy = "too noisy"
	for _, c := range []struct {
		name string
		all  []*comparison
		want bool
	}{
		{"clear", []*comparison{time(comparison{most: 0.02})}, false},
		{"unclear within a third", []*comparison{time(comparison{Unclear: noisy, most: 0.3})}, false},
		{"perhaps a third", []*comparison{time(comparison{Unclear: noisy, most: 0.4})}, true},
		{"perhaps a third of memory", []*comparison{memory(comparison{Unclear: noisy, most: 0.4})}, true},
		{"processor time rules it out", []*comparison{time(comparison{Unclear: noisy, most: 0.9}), cpu(comparison{most: 0.1})}, false},
		{"processor time rules it out, unclear itself", []*comparison{time(comparison{Unclear: noisy, most: 0.9}), cpu(comparison{Unclear: noisy, most: 0.3})}, false},
		{"processor time does not", []*comparison{time(comparison{Unclear: noisy, most: 0.9}), cpu(comparison{Unclear: noisy, most: 0.4})}, true},
		{"likely", []*comparison{time(comparison{Likely: true, most: 0.2})}, true},
		{"processor time likely", []*comparison{time(comparison{Unclear: noisy, most: 0.2}), cpu(comparison{Likely: true, most: 0.2})}, true},
		{"worse, and another unclear", []*comparison{memory(comparison{Unclear: noisy, most: 0.9}), time(comparison{Worse: true, most: 0.9})}, false},
	} {
		if why := wantsMore(c.all); (why != "") != c.want {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}

// With times that 10 turns cannot tell apart ab goes on to 20 and to 40; with -count it does
// not. Both sides make the choices between loops that ab has measured.
func TestABGoesOn(t *testing.T) {
	// Each side takes one, two, three times as long by turns: it counts them in a file.
	turn := `func() float64 {
		name := *out + ".turn"
		text, _ := os.ReadFile(name)
		os.WriteFile(name, append(text, 'x'), 0o644)
		return 100 * float64(1+len(text)%3)
	}()`
	t.Setenv("PM_SIMD", "")
	for _, c := range []struct {
		args []string
		runs string
		more int
	}{{nil, "40+40", 2}, {[]string{"-count", "12"}, "12+12", 0}} {
		folder := repositoryOf(t, turn, turn, "")
		code, stdout, stderr := call(append([]string{"ab", "HEAD", "-suite", "spmm", "-keep", "runs"}, c.args...)...)
		if code != unclearCode || !strings.Contains(stdout, c.runs) {
			t.Errorf("%q: exit code %d\n%s%s", c.args, code, stdout, stderr)
		}
		if got := strings.Count(stderr, "turns cannot tell, going on to"); got != c.more {
			t.Errorf("%q: goes on %d times\n%s", c.args, got, stderr)
		}
		asked := ""
		if simd.Measured() {
			asked = simd.At(simd.Best()).Choices()
		}
		for _, name := range []string{"old.txt", "new.txt"} {
			text, err := os.ReadFile(filepath.Join(folder, "runs", name))
			if runs := strings.Count(string(text), "asked: "+strconv.Quote(asked)+"\n"); err != nil || strconv.Itoa(runs) != c.runs[:2] {
				t.Errorf("%s: %d turns were asked for %q, %v", name, runs, asked, err)
			}
		}
		tidy(t, folder)
	}
}

// The three looks that ab may take share the chance of an alarm, and the one of -count has it all.
func TestABSharesTheAlarms(t *testing.T) {
	folder := repositoryOf(t, "100.0", "120.0", "")
	for looks, args := range map[float64][]string{3: nil, 1: {"-count", "10"}} {
		code, stdout, stderr := call(append([]string{"ab", "HEAD", "-suite", "spmm", "-quiet", "-json"}, args...)...)
		if code != cli.Failed {
			t.Fatalf("%q: exit code %d\n%s%s", args, code, stdout, stderr)
		}
		v := object(t, stdout)
		if p, all := v["p"].(float64), v["p_holm"].(float64); !(p > 0) || math.Abs(all-looks*p) > 1e-9*all {
			t.Errorf("%q: p is %g and %g with all looks, want %g times", args, p, all, looks)
		}
	}
	tidy(t, folder)
}

func TestWithChoices(t *testing.T) {
	for _, c := range [][3]string{{"", "gather=off", "gather=off"}, {"avx512", "gather=on", "avx512,gather=on"}} {
		if got := withChoices(c[0], c[1]); got != c[2] {
			t.Errorf("%q, want %q", got, c[2])
		}
	}
	got := sameChoices([]string{"A=1"})
	if want := map[bool]int{true: 2, false: 1}[simd.Measured()]; len(got) != want {
		t.Errorf("%q", got)
	}
}
