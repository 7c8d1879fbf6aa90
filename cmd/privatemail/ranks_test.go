package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cluster"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/par"
)

// localWorld is the world of one rank of cluster.Local. It keeps the texts of errors.
type localWorld struct {
	ranks *par.Ranks
	said  *string
}

func (w localWorld) Ranks() *par.Ranks { return w.ranks }
func (w localWorld) Neighbours() int   { return w.ranks.Size() }
func (w localWorld) End(err error) error {
	if err != nil {
		*w.said = err.Error()
	}
	return err
}

// together runs the command on ranks of this process, each with its own arguments, and
// returns the exit code, what each rank has printed, and the texts of their errors.
func together(size int, args func(rank int) []string) (codes []int, printed, said []string) {
	codes, printed, said = make([]int, size), make([]string, size), make([]string, size)
	cluster.Local(size, func(ranks *par.Ranks) error { // its error is that of a rank, which said has
		var out bytes.Buffer
		r := ranks.Rank()
		p := program()
		p.World = localWorld{ranks, &said[r]}
		codes[r] = p.Run(context.Background(), args(r), &out, &out)
		printed[r] = out.String()
		if codes[r] != cli.OK {
			return fmt.Errorf("exit code %d", codes[r])
		}
		return nil
	})
	return codes, printed, said
}

// same returns the same arguments for every rank.
func same(args ...string) func(int) []string { return func(int) []string { return args } }

// rankSet writes rows and labels of some classes, and queries, in a folder.
func rankSet(t *testing.T, n, d int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	succeed(t, "generate", "-kind", "classes", "-n", fmt.Sprint(n), "-d", fmt.Sprint(d), "-classes", "5", "-out", filepath.Join(folder, "set")+"/", "-quiet")
	return folder
}

// Ranks write the bytes that one process writes, whatever the operator, the form and the
// kind of file, and rank 0 alone prints.
func TestRanksWriteTheSameBytes(t *testing.T) {
	low, high := rankSet(t, 700, 3), rankSet(t, 300, 24)
	for _, c := range []struct {
		name, folder, out string
		flags             []string
	}{
		{"csr in few dimensions", low, "z.npy", []string{"embed", "-degree", "12", "-alpha", "0.1", "-k", "3", "-operator", "csr"}},
		{"csr in many dimensions", high, "z.fbin", []string{"embed", "-degree", "12", "-beta", "3", "-operator", "csr", "-steps", "2"}},
		{"poly", high, "z.fvecs", []string{"embed", "-normalize-rows", "-sigma", "6", "-alpha", "0.6", "-operator", "poly"}},
		{"grid", low, "z.idx", []string{"embed", "-sigma", "1", "-alpha", "0.1", "-operator", "grid", "-tolerance", "1e-3"}},
		{"dense, compressed", high, "z.idx.gz", []string{"embed", "-sigma", "1", "-alpha", "0.1", "-operator", "dense"}},
		{"spectral", high, "z.npy", []string{"embed", "-k", "2"}},
		{"fit", high, "z.npy", []string{"fit", "-recipe", "classic", "-model", "z.model", "-map-out", "m.npy"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(size int) map[string][]byte {
				folder := t.TempDir()
				args := slices.Clone(c.flags)
				for i, a := range args {
					if strings.HasPrefix(a, "z.") || a == "m.npy" {
						args[i] = filepath.Join(folder, a)
					}
				}
				args = append(args, filepath.Join(c.folder, "set"), "-out", filepath.Join(folder, c.out), "-workers", "1")
				codes, printed, said := together(size, same(args...))
				for r, code := range codes {
					if code != cli.OK || said[r] != "" || (r == 0) != (printed[r] != "") {
						t.Fatalf("%d ranks: rank %d ends with %d: %s\n%s", size, r, code, said[r], printed[r])
					}
				}
				return filesOf(t, folder)
			}
			want := run(1)
			for _, size := range []int{2, 4} {
				got := run(size)
				if len(got) != len(want) {
					t.Errorf("%d ranks: %d files, one process writes %d", size, len(got), len(want))
				}
				for name, data := range want {
					if !strings.HasSuffix(name, ".model") && !bytes.Equal(got[name], data) { // a model says how long it took
						t.Errorf("%d ranks: %s has other bytes", size, name)
					}
				}
			}
		})
	}
}

// filesOf returns the files of a folder, the hidden ones among them.
func filesOf(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
