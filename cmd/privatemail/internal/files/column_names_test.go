package files

import (
	"strings"
	"testing"
)

// Names that no terminal should get, and numbers, which may be values, are not shown as they are.
func TestNamesInMessages(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		want, have []string
		words      []string // of the error; nil for none
		not        string
	}{
		{[]string{"a", "b"}, []string{"b", "a"}, nil, ""},
		{nil, []string{"b"}, nil, ""},
		{[]string{"a"}, nil, nil, ""},
		{[]string{"a", "a"}, []string{"a", "a"}, nil, ""}, // the same: nothing has to be found
		{[]string{"a", "a"}, []string{"a", "b"}, []string{"W: two of its columns"}, ""},
		{[]string{"a", "b"}, []string{"a", "a"}, []string{"H: columns 1 and 2"}, ""},
		{[]string{"a", "b"}, []string{"a"}, []string{`H: column "b" is missing, which W has`}, ""},
		{[]string{"a"}, []string{"a", "b", "c"}, []string{`columns "b", "c" are not among those of W`}, ""},
		{[]string{"a", "b"}, []string{"a", "c"}, []string{`column "b" is missing`, `column "c" is not among`}, ""},
		{[]string{"a"}, []string{"a", "0.37"}, []string{"column number 2 is"}, "0.37"},
		{[]string{"a", "-7e3"}, []string{"a"}, []string{"column number 2 is missing"}, "7e3"},
		{[]string{"a"}, []string{"a", "\x1b[2J"}, []string{`\x1b[2J`}, "\x1b"},
		{[]string{"a"}, []string{"a", long}, []string{"..."}, long},
		{[]string{"a"}, []string{"a", "b", "c", "d", "e", "f", "g"}, []string{`"e" and 2 more are`}, `"g"`},
	} {
		_, err := OrderOf(Named{"W", c.want}, Named{"H", c.have})
		if (err == nil) != (c.words == nil) {
			t.Errorf("%q, %q: %v", c.want, c.have, err)
			continue
		}
		for _, word := range c.words {
			if !strings.Contains(err.Error(), word) || c.not != "" && strings.Contains(err.Error(), c.not) {
				t.Errorf("%q, %q: %v", c.want, c.have, err)
			}
		}
	}
}
