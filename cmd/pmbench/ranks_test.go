package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// With ranks as goroutines every case has a figure for each number of ranks, and ranks of
// few dimensions exchange less than the whole iterate.
func TestRanksAsGoroutines(t *testing.T) {
	longtest.Only(t)
	folder := t.TempDir()
	args := strings.Fields("ranks -local -quiet -ranks 1,2,3 -n 6000 -count 1 -times 1 -steal 100 -case /graph=cells/d=2/.*strong -json -record")
	code, stdout, stderr := call(append(args, folder)...)
	if code != cli.OK || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var seen []string
	for line := range strings.Lines(stdout) {
		v := object(t, line)
		name, ranks := v["case"].(string), v["ranks"].(float64)
		op, _, _ := strings.Cut(name, "/")
		seen = append(seen, op+" "+figures.Number(ranks))
		if v["n"] != 6000.0 || v["rounds"] != 1.0 || v["seconds"].(float64) <= 0 || v["speedup"].(float64) <= 0 || ranks == 1 && v["speedup"] != 1.0 {
			t.Errorf("%s", line)
		}
		if op != "op=step" {
			continue
		}
		exchanged, whole := v["exchanged_bytes"].(float64), 0.0
		if ranks > 1 {
			whole = v["allgatherv_bytes"].(float64)
		}
		if whole != 8*6000*(ranks-1) || (exchanged > 0) != (ranks > 1) || exchanged > whole/2 || ranks > 1 && exchanged <= v["gathered_bytes"].(float64) {
			t.Errorf("%g ranks exchange %g bytes of %g, and gather %v", ranks, exchanged, whole, v["gathered_bytes"])
		}
	}
	if want := []string{"op=build 1", "op=build 2", "op=build 3", "op=step 1", "op=step 2", "op=step 3"}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*", "ranks-scaling-part-*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("recordings %q, %v", files, err)
	}
	records, _, err := record.Read(files[0])
	if err != nil || len(records) != 6 || records[5].Ranks.Ranks != 3 || !strings.HasPrefix(records[5].Command, "pmbench ranks -local") {
		t.Errorf("%d records, %v", len(records), err)
	}
}

func TestWrongRanks(t *testing.T) {
	for _, c := range []struct{ args, words string }{
		{"ranks -ranks 0", "-ranks"},
		{"ranks -ranks 1,x", "-ranks"},
		{"ranks -ranks 2,2", "different"},
		{"ranks -case zebra", "zebra"},
		{"ranks -case [", "-case"},
		{"ranks 4", "4"},
		{"run -suite spmm -n 10", "ranks"},
		{"model -d 4", "1 to 3"},
		{"model -link 0", "-link"},
		{"model -read NaN", "-read"},
		{"model -n 1e6,x", "-n"},
		{"model -n 1e12", "2^32"},
		{"model -ranks 1,-2", "-ranks"},
		{"model x", "x"},
	} {
		refuse(t, cli.Usage, strings.Fields(c.args), c.words)
	}
	refuse(t, cli.Usage, []string{"ranks", "-quiet", "-mpirun", " ", "-n", "500", "-case", "grid"}, "-mpirun")
	refuse(t, cli.Failed, []string{"ranks", "-quiet", "-mpirun", filepath.Join(t.TempDir(), "absent"), "-n", "500", "-case", "grid"}, "absent")
}
