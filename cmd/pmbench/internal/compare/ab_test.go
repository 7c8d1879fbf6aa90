package compare

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

func TestWantsMore(t *testing.T) {
	time := func(c comparison) *comparison { c.name, c.Metric = "X", record.YardsUnit; return &c }
	cpu := func(c comparison) *comparison { c.name, c.Metric = "X", record.CPUYardsUnit; return &c }
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
