package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// A program does with its inner loops what PM_SIMD asks for, says so, and says what of
// PM_SIMD it ignores.
func TestVersionFollowsPMSIMD(t *testing.T) {
	best := simd.Best().String()
	hasChoices := simd.At(simd.Best()).Choices() != ""
	for _, c := range []struct {
		value, plain, chosen string // what is printed where there is nothing to choose, and where there is
		note                 string
		noteOfPlain          string
	}{
		{best + ",gather=off", best, best + ",gather=off (PM_SIMD)", "", ""},
		{best + ",gather=on", best, best + ",gather=on (PM_SIMD)", "", "gather nothing"},
		{"generic,gathr=off", "generic", "generic", `"gathr=off" is ignored`, `"gathr=off" is ignored`},
	} {
		cmd := childtest.Command(t, []string{asCommand + "=1", "PM_SIMD=" + c.value}, "version")
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		want, note := c.plain, c.noteOfPlain
		if hasChoices {
			want, note = c.chosen, c.note
		}
		if !strings.HasSuffix(stdout.String(), " "+want+"\n") {
			t.Errorf("PM_SIMD=%s: %q, want %q", c.value, stdout.String(), want)
		}
		if (stderr.Len() > 0) != (note != "") || !strings.Contains(stderr.String(), note) {
			t.Errorf("PM_SIMD=%s: note %q, want %q", c.value, stderr.String(), note)
		}
	}
}

// settingInUse is what version prints of this process.
func settingInUse() string {
	choices, from := cli.Choices()
	return cli.SettingWords(simd.Best().String(), choices, from)
}
