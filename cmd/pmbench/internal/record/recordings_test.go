package record

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A recording that cannot be written is said, and so is what ended the suite, unless that
// was a signal: "interrupted" would hide the failure.
func TestKeepSuiteSaysBothErrors(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none")
	broken := errors.New("the peer broke")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx                         context.Context
		folder                      string
		ended                       error
		wantBroken, wantCancel, bad bool
	}{
		"whole":                                {ctx: t.Context(), folder: t.TempDir()},
		"whole, no file":                       {ctx: t.Context(), folder: none, bad: true},
		"no folder":                            {ctx: t.Context(), ended: broken, wantBroken: true},
		"failed":                               {ctx: t.Context(), folder: t.TempDir(), ended: broken, wantBroken: true},
		"failed, no file":                      {ctx: t.Context(), folder: none, ended: broken, wantBroken: true, bad: true},
		"interrupted":                          {ctx: cancelled, folder: t.TempDir(), ended: context.Canceled, wantCancel: true},
		"interrupted with the peer":            {ctx: cancelled, folder: t.TempDir(), ended: broken, wantBroken: true, wantCancel: true},
		"interrupted, no file":                 {ctx: cancelled, folder: none, ended: context.Canceled, bad: true},
		"interrupted behind the last, no file": {ctx: cancelled, folder: none, bad: true},
		"interrupted behind the last, whole file": {ctx: cancelled, folder: t.TempDir()},
	} {
		var stderr bytes.Buffer
		e := &cli.Env{Program: "pmbench", Verb: "run", Stderr: &stderr}
		err := Keep(c.ctx, e, c.folder, "spmm", []*Record{{Suite: "spmm"}}, c.ended)
		if errors.Is(err, broken) != c.wantBroken || errors.Is(err, context.Canceled) != c.wantCancel || errors.Is(err, fs.ErrNotExist) != c.bad {
			t.Errorf("%s: %v", name, err)
		}
		if said := strings.Contains(stderr.String(), "recorded in "); said != (c.folder != "" && !c.bad) {
			t.Errorf("%s: %q", name, stderr.String())
		}
	}
}

func TestPartName(t *testing.T) {
	seen := map[string][]string{}
	for _, flags := range [][]string{
		{"k=8/"}, {"k=8$"}, {"k=[8]"}, {".*"}, {"../../x"}, {"\x00"}, {strings.Repeat("k=8|", 500)}, {strings.Repeat("k=8|", 501)},
		{"a", "", ""}, {"", "a", ""}, {"", "", "n=2000"}, {"k=8/", "scipy", "n=2000"},
	} {
		name := PartName(flags...)
		if !regexp.MustCompile(`^-part-[a-z0-9+-]{1,40}-[0-9a-f]{8}$`).MatchString(name) {
			t.Errorf("%.50q: %q", flags, name)
		}
		if seen[name] != nil {
			t.Errorf("%.50q and %.50q: %q", flags, seen[name], name)
		}
		seen[name] = flags
	}
	for _, flags := range [][]string{{""}, {"", "", ""}} {
		if name := PartName(flags...); name != "" {
			t.Errorf("%q: %q", flags, name)
		}
	}
}
