package main

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/formats"

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

// A rankCase is a command that ranks can share.
type rankCase struct {
	name, set, out string
	flags          []string
}

// rankCases has the operators, the forms and the kinds of file.
func rankCases(t *testing.T) []rankCase {
	low, high := rankSet(t, 700, 3), rankSet(t, 300, 24)
	return []rankCase{
		{"csr in few dimensions", low, "z.npy", []string{"embed", "-mean-neighbours", "12", "-alpha", "0.1", "-dim", "3", "-operator", "csr"}},
		{"csr in many dimensions", high, "z.fbin", []string{"embed", "-mean-neighbours", "12", "-beta", "3", "-operator", "csr", "-steps", "2"}},
		{"poly", high, "z.fvecs", []string{"embed", "-normalize-rows", "-sigma", "6", "-alpha", "0.6", "-operator", "poly"}},
		{"grid", low, "z.idx", []string{"embed", "-sigma", "1", "-alpha", "0.1", "-operator", "grid", "-tolerance", "1e-3"}},
		{"dense, compressed", high, "z.idx.gz", []string{"embed", "-sigma", "1", "-alpha", "0.1", "-operator", "dense"}},
		{"spectral, with a picture", high, "z.npy", []string{"embed", "-dim", "2", "-plot", "z.svg"}},
		{"fit", high, "z.npy", []string{"fit", "-recipe", "classic", "-model", "z.model", "-map-out", "m.npy"}},
	}
}

// args returns the arguments of the command that writes to a folder.
func (c rankCase) args(folder string) []string {
	args := slices.Clone(c.flags)
	for i, a := range args {
		if strings.HasPrefix(a, "z.") || a == "m.npy" {
			args[i] = filepath.Join(folder, a)
		}
	}
	return append(args, filepath.Join(c.set, "set"), "-out", filepath.Join(folder, c.out), "-workers", "1")
}

// compareFiles wants the files that one process has written.
func compareFiles(t *testing.T, ranks int, got, want map[string][]byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d ranks: %d files, one process writes %d", ranks, len(got), len(want))
	}
	for name, data := range want {
		if !strings.HasSuffix(name, ".model") && !bytes.Equal(got[name], data) { // a model says how long it took
			t.Errorf("%d ranks: %s has other bytes", ranks, name)
		}
	}
}

// Ranks write the bytes that one process writes, whatever the operator, the form and the
// kind of file, and rank 0 alone prints.
func TestRanksWriteTheSameBytes(t *testing.T) {
	for _, c := range rankCases(t) {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			succeed(t, c.args(folder)...)
			want := filesOf(t, folder)
			for _, size := range []int{2, 4} {
				folder := t.TempDir()
				codes, printed, said := together(size, same(c.args(folder)...))
				for r, code := range codes {
					if code != cli.OK || said[r] != "" || (r == 0) != (printed[r] != "") {
						t.Fatalf("%d ranks: rank %d ends with %d: %s\n%s", size, r, code, said[r], printed[r])
					}
				}
				compareFiles(t, size, filesOf(t, folder), want)
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
	contents := map[string][]byte{}
	for _, e := range entries {
		if contents[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return contents
}

// An error is that of one process, on every rank, and rank 0's output has nothing of it: the
// world prints it once.
func TestRanksRefuseAsOne(t *testing.T) {
	folder := rankSet(t, 60, 3)
	set, out := filepath.Join(folder, "set"), filepath.Join(folder, "z.npy")
	wide := filepath.Join(folder, "wide.npy")
	rows := make([]float64, 60*3)
	rows[150] = 1e300 // a row of the last rank
	if err := formats.WriteMatrix(t.Context(), wide, 60, 3, rows); err != nil {
		t.Fatal(err)
	}
	rows[150] = math.NaN()
	nan := filepath.Join(folder, "nan.npy")
	if err := formats.WriteMatrix(t.Context(), nan, 60, 3, rows); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"embed"}, {"embed", set}, {"embed", set, "-out", out, "-beta", "1", "-alpha", "1"}, {"embed", set, "-out", out, "-nonsense"}, {"nonsense"},
		{"embed", filepath.Join(folder, "none.npy"), "-out", out}, {"embed", set, "-out", filepath.Join(folder, "none", "z.npy")},
		{"embed", wide, "-out", out, "-sigma", "1", "-form", "paper"}, {"embed", nan, "-out", out, "-sigma", "1", "-form", "paper"},
		{"fit", wide, "-out", out, "-labels", filepath.Join(set, "labels.npy")}, {"embed", "-plan", nan, "-sigma", "1", "-form", "paper"},
		{"embed", set, "-out", out, "-mean-neighbours", "12", "-beta", "3", "-max-memory", "1KB"},
		{"continue", nan, "-out", out},
	} {
		wantCode, _, want := call(args...)
		codes, printed, said := together(3, same(args...))
		lines := strings.Split(strings.TrimSpace(want), "\n")
		for r, code := range codes {
			if code != wantCode || said[r] != lines[len(lines)-1] || strings.Contains(printed[r], said[r]) {
				t.Errorf("%s: rank %d ends with %d: %q, one process with %d: %q", strings.Join(args, " "), r, code, said[r], wantCode, want)
			}
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was written")
	}
}

// Verbs that belong to one process are refused in one line, and help is printed once.
func TestRanksOfOtherVerbs(t *testing.T) {
	for _, v := range program().All() {
		codes, printed, said := together(2, same(append(strings.Fields(v.Name), "-h")...))
		if codes[0] != cli.OK || codes[1] != cli.OK || printed[0] == "" || printed[1] != "" || said[0]+said[1] != "" {
			t.Errorf("%s -h: %v %q %q", v.Name, codes, printed, said)
		}
		if v.Ranks {
			continue
		}
		codes, printed, said = together(2, same(strings.Fields(v.Name)...))
		want := "privatemail: " + v.Name + ": runs on one process, and 2 were started; docs/scale.md says what several can do"
		if codes[0] != cli.Failed || codes[1] != cli.Failed || printed[0]+printed[1] != "" || said[0] != want || said[1] != want {
			t.Errorf("%s: %v %q %q", v.Name, codes, printed, said)
		}
	}
	for _, name := range []string{"privatize", "serve", "query cells", "query sealed", "query all", "budget", "sensitivity"} { // what is private, and what keeps an account
		v := program().All()[slices.IndexFunc(program().All(), func(v cli.Verb) bool { return v.Name == name })]
		if v.Ranks {
			t.Errorf("%s runs on ranks", name)
		}
	}
}

// Files that differ between ranks are refused on all of them.
func TestRanksReadTheSameFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("0.csv", "x,y\n1,2\n3,4\n5,6\n7,9\n")
	write("1.csv", "x,y\n1,2\n3,4\n5,6\n7,8\n")
	write("0.labels.txt", "a\nb\na\nb\n")
	write("1.labels.txt", "a\nb\na\na\n")
	for r, rows := range []int{4, 5} {
		if err := formats.WriteMatrix(t.Context(), filepath.Join(folder, fmt.Sprint(r)+".npy"), rows, 2, make([]float32, 2*rows)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		files func(rank string) []string
		words string
	}{
		{"rows of text", func(r string) []string { return []string{r + ".csv"} }, "ranks 0 and 1 have read something else there"},
		{"labels", func(r string) []string { return []string{"0.csv", "-labels", filepath.Join(folder, r+".labels.txt")} }, "ranks 0 and 1 have read something else there"},
		{"numbers of rows", func(r string) []string { return []string{r + ".npy"} }, "find different files"},
		{"kinds of file", func(r string) []string { return []string{r + map[string]string{"0": ".npy", "1": ".csv"}[r]} }, "ranks 0 and 1 have read something else there"},
	} {
		codes, _, said := together(2, func(rank int) []string {
			paths := c.files(fmt.Sprint(rank))
			paths[0] = filepath.Join(folder, paths[0])
			return append([]string{"embed", "-out", filepath.Join(folder, "z.npy"), "-sigma", "1", "-alpha", "0.1", "-labels", filepath.Join(folder, "0.labels.txt")}, paths...)
		})
		if codes[0] != cli.Failed || codes[1] != cli.Failed || !strings.Contains(said[0], c.words) || !strings.Contains(said[1], c.words) {
			t.Errorf("%s: %v %q", c.name, codes, said)
		}
	}
}

// A release is continued on ranks as on one process. Releases that differ are refused.
func TestRanksContinue(t *testing.T) {
	folder, features := t.TempDir(), toy(t)
	at := func(name string) string { return filepath.Join(folder, name) }
	ledger := newLedger(t, folder)
	for _, name := range []string{"0.release", "1.release"} {
		succeed(t, private(features, ledger, at(name), "-epsilon", "0.1", "-delta", "1e-9")...)
	}
	args := func(name, out string) []string {
		return []string{"continue", at(name), "-mean-neighbours", "10", "-out", at(out)}
	}
	succeed(t, args("0.release", "one.npy")...)
	codes, _, said := together(2, same(args("0.release", "two.npy")...))
	contents := filesOf(t, folder)
	if codes[0] != cli.OK || codes[1] != cli.OK || !bytes.Equal(contents["one.npy"], contents["two.npy"]) || len(contents["one.npy"]) == 0 {
		t.Errorf("%v %q", codes, said)
	}
	codes, _, said = together(2, func(rank int) []string { return args(fmt.Sprint(rank)+".release", "three.npy") })
	if codes[0] != cli.Failed || !strings.Contains(said[0], "ranks 0 and 1 have read something else there") {
		t.Errorf("%v %q", codes, said)
	}
}
