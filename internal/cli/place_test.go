package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CheckPlace refuses a place where no file can be written, and leaves no file itself.
func TestCheckPlace(t *testing.T) {
	folder := t.TempDir()
	at := func(names ...string) string { return filepath.Join(append([]string{folder}, names...)...) }
	if err := os.WriteFile(at("file"), []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "file", "new": "elsewhere", "lost": filepath.Join("absent", "x"), "round": "round"} {
		if err := os.Symlink(target, at(name)); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct{ path, want string }{
		{"", ""}, {"/dev/stdout", ""}, {"/dev/stderr", ""}, {os.DevNull, ""},
		{at("x"), ""}, {at("file"), ""}, {at("link"), ""}, {at("new"), ""},
		{folder, "is a folder"}, {at("absent", "x"), "there is no folder"}, {at("lost"), "there is no folder"},
		{at("file", "x"), "file"}, {at("round"), "round"},
	} {
		err := CheckPlace(c.path)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.path, err, c.want)
		}
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 5 {
		t.Errorf("%v, %v", entries, err)
	}
	if text, err := os.ReadFile(at("file")); string(text) != "kept" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}
