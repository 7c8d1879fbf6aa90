package peers

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
)

// The flags that choose a part are those that leave out cases or peers, or change sizes.
func TestFlagsOfAPartOfPeers(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&Options{N: suites.DefaultRows, Count: 9}).part(), false},
		{(&Options{N: suites.DefaultRows, Pattern: "k=8"}).part(), true},
		{(&Options{N: suites.DefaultRows, Peer: "scipy"}).part(), true},
		{(&Options{N: 20_000}).part(), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}
