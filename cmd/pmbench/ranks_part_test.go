package main

import "testing"

// The flags that choose a part are those that leave out cases, or change sizes and ranks.
func TestFlagsOfAPartOfRanks(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&ranksFlags{rows: rankRows, count: 9}).part(), false},
		{(&ranksFlags{rows: rankRows, local: true}).part(), true},
		{(&ranksFlags{rows: 20_000}).part(), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}
