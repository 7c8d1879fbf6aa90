package main

import (
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// What run records says where it was made.
func TestRecordingHasItsOrigin(t *testing.T) {
	var b strings.Builder
	m := &Machine{CPU: "A", Cores: 2, Go: "go1.26.1", Level: "amx", Choices: "gather=on"}
	if err := writeBenchmarks(&b, m, []*Record{{Suite: "spmm", Case: "k=1", Iterations: 1, Seconds: 1}}); err != nil {
		t.Fatal(err)
	}
	rec := &recording{cases: map[string]map[string][]float64{}}
	if err := rec.read(strings.NewReader(b.String())); err != nil {
		t.Fatal(err)
	}
	for _, k := range originKeys {
		if len(rec.origin[k.key]) != 1 {
			t.Errorf("%s: %q in\n%s", k.key, rec.origin[k.key], b.String())
		}
	}
}

// The two sides of ab are of one machine: a revision may know fewer levels of it.
func TestABOfDifferentLevels(t *testing.T) {
	f := compareFlags{interleaved: true}
	old, now := fixed(map[string][]float64{"sec/op": ramp(1)}), fixed(map[string][]float64{"sec/op": ramp(1)})
	old.origin, now.origin = origin{"level": {"avx512"}}, origin{"level": {"amx"}}
	var messages strings.Builder
	got, err := f.checkOrigins(&cli.Env{Stderr: &messages}, old, now)
	if err != nil || len(got) != 1 || !strings.Contains(messages.String(), "level avx512 and amx") {
		t.Errorf("%q, %v, %s", got, err, messages.String())
	}
}

// A recording without choices is compared with one that has them.
func TestOriginsWithChoices(t *testing.T) {
	off, on, none := origin{"choices": {"gather=off"}}, origin{"choices": {"gather=on"}}, origin{}
	if got := off.differences(on); len(got) != 1 || !strings.Contains(got[0], "gather=off and gather=on") {
		t.Errorf("%q", got)
	}
	if got := append(off.differences(none), none.differences(off)...); got != nil {
		t.Errorf("%q", got)
	}
}
