package server

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	longest := strings.Repeat("x", maxContent)
	for name, c := range map[string]struct {
		text string
		want []string
		err  string // a part of the message
	}{
		"empty":             {"", nil, ""},
		"one":               {"a\n", []string{"a"}, ""},
		"no last newline":   {"a\nb", []string{"a", "b"}, ""},
		"CRLF":              {"a\r\nb\r\n", []string{"a", "b"}, ""},
		"CR within":         {"a\rb\n", []string{"a\rb"}, ""},
		"empty lines":       {"\n\r\n\nx\n\n", []string{"", "", "", "x", ""}, ""},
		"any bytes":         {"\x00\xff\xfe\n\x80\n", []string{"\x00\xff\xfe", "\x80"}, ""},
		"longest":           {longest + "\r\n" + longest, []string{longest, longest}, ""},
		"too long":          {"a\n" + longest + "x\nb\n", []string{"a"}, "line 2"},
		"much too long":     {"a\nb\n" + strings.Repeat(longest, 100), []string{"a", "b"}, "line 3"},
		"too long, no text": {strings.Repeat("\x00", 1<<20), nil, "line 1"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "records.txt")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			lines := Lines(path)
			for range 2 { // NewRecords reads twice
				var got []string
				var last error
				for line, err := range lines {
					if last = err; err == nil {
						got = append(got, string(line))
					}
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%d lines, want %d", len(got), len(c.want))
				}
				if (last != nil) != (c.err != "") || last != nil && (!errors.Is(last, errRecords) || !strings.Contains(last.Error(), c.err) || strings.Contains(last.Error(), "xx")) {
					t.Errorf("error %v, want one of %q", last, c.err)
				}
			}
		})
	}
}

func TestLinesWithoutFile(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := NewRecords(t.Context(), someGallery, Lines(missing), RecordsSettings{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := NewRecords(t.Context(), someGallery, Lines(t.TempDir()), RecordsSettings{}); err == nil {
		t.Error("the lines of a folder")
	}
}

// TestRecordsOfLines makes records of a file.
func TestRecordsOfLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "records.txt")
	if err := os.WriteFile(path, []byte("first\r\n\nthird"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := NewRecords(t.Context(), someGallery, Lines(path), RecordsSettings{Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := newRecords(t, [][]byte{[]byte("first"), {}, []byte("third")}, RecordsSettings{})
	if got.Epoch() != want.Epoch() || !slices.Equal(got.Hint().Words, want.Hint().Words) {
		t.Error("other records than those of slices")
	}
}
