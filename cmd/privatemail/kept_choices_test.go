package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/simd"
)

// A process takes the choices between loops that an earlier one has measured.
func TestChoicesOfAnEarlierProcess(t *testing.T) {
	if !simd.Measured() {
		t.Skip("nothing is measured here")
	}
	folder := t.TempDir()
	choices := func() string {
		c := childtest.Command(t, []string{asCommand + "=" + withCache, "XDG_CACHE_HOME=" + folder, "HOME=" + folder, "LocalAppData=" + folder}, "version", "-json")
		out, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Choices string
			From    string `json:"choices_from"`
		}
		if err := json.Unmarshal(out, &v); err != nil || v.From != "measured" {
			t.Fatalf("%s, %v", out, err)
		}
		return v.Choices
	}
	first := choices()
	var path string
	filepath.WalkDir(folder, func(p string, _ os.DirEntry, _ error) error {
		if filepath.Base(p) == "calibration-choices.json" {
			path = p
		}
		return nil
	})
	if path == "" {
		t.Skip("the two forms are too close here: no answer is kept")
	}
	other := map[string]string{"gather=on": "gather=off", "gather=off": "gather=on"}[first]
	data, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(data), first) {
		t.Fatalf("%s, %v", data, err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(data), first, other, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := choices(); got != other {
		t.Errorf("the file has %s, and the process takes %s", other, got)
	}
}
