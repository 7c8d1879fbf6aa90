package ranks

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
)

// The flags that choose a part are those that leave out cases, or change sizes and ranks.
func TestFlagsOfAPartOfRanks(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&Options{Rows: suites.RankRows, Count: 9}).part(), false},
		{(&Options{Rows: suites.RankRows, Local: true}).part(), true},
		{(&Options{Rows: 20_000}).part(), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}
