// Package clitest helps tests of commands that run as processes of their own.
package clitest

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// EarlierChoices fails where the command does not take the choices between loops that an earlier
// process has measured, whichever they are, or does not say so where the level or PM_SIMD leaves
// no choice. The variable, of the form NAME=VALUE, makes the test binary the command.
func EarlierChoices(t *testing.T, variable string) {
	t.Helper()
	home := t.TempDir()
	environment := []string{variable}
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, home)
		environment = append(environment, name+"="+home)
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []string{"gather=on", "gather=off"} {
		calibration.SaveChoices(folder, kept)
		out, err := childtest.Command(t, environment, "version", "-json").Output()
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Choices string
			From    string `json:"choices_from"`
		}
		if err := json.Unmarshal(out, &v); err != nil {
			t.Fatal(err)
		}
		if measured := simd.Measured(); measured != (v.From == "measured") || measured && v.Choices != kept {
			t.Errorf("the file has %s, and the process takes %s, %s", kept, v.Choices, v.From)
		}
	}
}
