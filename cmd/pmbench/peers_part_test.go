package main

import "testing"

// The flags that choose a part are those that leave out cases or peers, or change sizes.
func TestFlagsOfAPartOfPeers(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&peersFlags{n: defaultRows, count: 9}).part(), false},
		{(&peersFlags{n: defaultRows, pattern: "k=8"}).part(), true},
		{(&peersFlags{n: defaultRows, peer: "scipy"}).part(), true},
		{(&peersFlags{n: 20_000}).part(), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}
