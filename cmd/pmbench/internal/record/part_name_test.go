package record

import (
	"regexp"
	"strings"
	"testing"
)

func TestPartName(t *testing.T) {
	seen := map[string][]string{}
	for _, flags := range [][]string{
		{"k=8/"}, {"k=8$"}, {"k=[8]"}, {".*"}, {"../../x"}, {"\x00"}, {strings.Repeat("k=8|", 500)}, {strings.Repeat("k=8|", 501)},
		{"a", "", ""}, {"", "a", ""}, {"", "", "n=2000"}, {"k=8/", "scipy", "n=2000"},
	} {
		name := PartName(flags...)
		if !regexp.MustCompile(`^-part-[a-z0-9+-]{1,40}-[0-9a-f]{8}$`).MatchString(name) {
			t.Errorf("%.50q: %q", flags, name)
		}
		if seen[name] != nil {
			t.Errorf("%.50q and %.50q: %q", flags, seen[name], name)
		}
		seen[name] = flags
	}
	for _, flags := range [][]string{{""}, {"", "", ""}} {
		if name := PartName(flags...); name != "" {
			t.Errorf("%q: %q", flags, name)
		}
	}
}
