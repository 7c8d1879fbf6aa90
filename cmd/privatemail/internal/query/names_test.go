package query

import (
	"bytes"
	"strings"
	"testing"
)

// Names are lines; a malformed one is refused by its line, and no message holds a name.
func TestReadNames(t *testing.T) {
	for _, c := range []struct{ text, wrong string }{
		{"a\nb\nc\n", ""}, {"\ufeffa\nb\nc\n", ""}, {"\ufeff\nb\nc\n", "line 1 is empty"}, {"a\r\nb\r\nc", ""}, {"ä\n \n-\n", ""},
		{"a\nb\n", "2 names, and there are 3 rows"}, {"a\nb\nc\nd\n", "more than 3 names"}, {"a\n\nc\n", "line 2 is empty"},
		{"secret\nb\nsecret\n", ""}, {"secret\n\n", "line 2 is empty"}, {"a\n\xff\nc\n", "line 2 is not UTF-8"},
		{"a\n" + strings.Repeat("x", 5000) + "\nc\n", "line 2 has more than"}, {"", "0 names"},
	} {
		names, err := readNames(strings.NewReader(c.text), 3)
		if (err == nil) != (c.wrong == "") || err != nil && (!strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%.20q: %v", c.text, err)
		}
		if err == nil && (len(names) != 3 || strings.ContainsAny(strings.Join(names, ""), "\r\ufeff")) {
			t.Errorf("%q: %q", c.text, names)
		}
	}
}

func FuzzReadNames(f *testing.F) {
	f.Add([]byte("a\nb\n"), 2)
	f.Add([]byte("a\r\na\r\n"), 2)
	f.Fuzz(func(t *testing.T, data []byte, n int) {
		names, err := readNames(bytes.NewReader(data), n)
		if err != nil {
			return
		}
		for _, name := range names {
			if name == "" || strings.Contains(name, "\n") {
				t.Errorf("the name %q", name)
			}
		}
		if len(names) != n {
			t.Errorf("%d names, want %d", len(names), n)
		}
	})
}
