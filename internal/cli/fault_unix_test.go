//go:build unix

package cli

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// A verb that reads a mapped file fails with one line if the file is truncated.
func TestTruncatedInput(t *testing.T) {
	const size = 1 << 16
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, release, err := disk.Load(f, size)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	p := &Program{Name: "tool", Verbs: []Verb{{Name: "read", Define: func(*flag.FlagSet) Action {
		return func(context.Context, *Env, []string) error {
			if err := os.Truncate(path, 0); err != nil {
				return err
			}
			copy(make([]byte, size), data)
			return nil
		}
	}}}}
	if code, _, text := call(t.Context(), p, "read"); code != Failed || !strings.Contains(text, "truncated") || strings.Count(text, "\n") != 1 {
		t.Errorf("exit code %d: %s", code, text)
	}
}
