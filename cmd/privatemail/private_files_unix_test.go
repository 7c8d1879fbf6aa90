//go:build unix

package main

import (
	"os"
	"syscall"
	"testing"

	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
)

// Answers are for their owner: new files cannot be read by others. A file that is replaced keeps
// its permissions, and other verbs make files as the umask says.
func TestQueryFilesArePrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	g, s := startService(t), startSealed(t, sealedserver.Settings{Cells: 4, Probes: 1})
	for _, args := range []func(p place) []string{
		func(p place) []string { return p.cells(g.address, "-out", p.out, "-distances-out", p.out+".csv") },
		func(p place) []string { return p.all(g.address, "-out", p.out, "-distances-out", p.out+".csv") },
		func(p place) []string {
			return p.sealed(s.address, "-out", p.out, "-fetch", "-records-out", p.out+".csv")
		},
	} {
		p := newPlace(t, 2)
		for _, mode := range []os.FileMode{0o600, 0o640} {
			succeed(t, args(p)...)
			for _, path := range []string{p.out, p.out + ".csv"} {
				info, err := os.Stat(path)
				if err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v, %v", path, info.Mode(), err)
				}
				if err := os.Chmod(path, 0o640); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if before := syscall.Umask(0o022); before != 0o022 {
		t.Errorf("the umask is left at %o", before)
	}
}
