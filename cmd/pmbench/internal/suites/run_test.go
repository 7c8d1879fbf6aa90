package suites

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// The same holds for the file of -out.
func TestWriteOutSaysBothErrors(t *testing.T) {
	broken := errors.New("the case broke")
	f := &Options{Out: filepath.Join(t.TempDir(), "none", "out.txt")}
	records := levelRecords()
	e := &cli.Env{Program: "pmbench", Verb: "run", Stderr: new(bytes.Buffer)}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.writeOut(t.Context(), e, records[0].Machine, records, broken); !errors.Is(err, broken) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := f.writeOut(cancelled, e, records[0].Machine, records, context.Canceled); errors.Is(err, context.Canceled) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	// A recording that could not be kept before is not forgotten.
	if err := f.writeOut(cancelled, e, records[0].Machine, records, broken); !errors.Is(err, broken) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// The flags that choose a part are those that leave out cases, or change ranks.
func TestFlagsOfAPart(t *testing.T) {
	for _, c := range []struct {
		part string
		want bool
	}{
		{(&Options{Count: 14, Full: true}).part(1), false},
		{(&Options{Pattern: "k=8"}).part(1), true},
		{(&Options{}).part(2), true},
	} {
		if (c.part != "") != c.want {
			t.Errorf("%q, want a part: %v", c.part, c.want)
		}
	}
}
