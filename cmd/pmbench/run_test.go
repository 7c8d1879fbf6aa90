package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// verbLab is a small lab until the test ends.
func verbLab(t *testing.T) *measure.Lab {
	t.Helper()
	l := measure.SmallLab()
	t.Cleanup(l.Close)
	return l
}

// All cases of all suites do what they are there for, with the promised fields.
func TestSuites(t *testing.T) {
	t.Setenv(asCommand, "1") // suite retrieval starts this program again
	for _, s := range suites.All() {
		if !longtest.Wanted() && !slices.Contains([]string{"spmm", "step", "iterate"}, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			l := verbLab(t)
			cases := s.Pick(l, regexp.MustCompile(""), s.Name != "private") // the long private cases do not shrink below a second
			if s.Name == "private" {
				cases = slices.DeleteFunc(cases, func(c measure.Case) bool { return c.N > 1000 })
			}
			if !longtest.Wanted() { // one in six
				kept := 0
				cases = slices.DeleteFunc(cases, func(measure.Case) bool { kept++; return kept%6 != 1 })
			}
			var records []*record.Record
			err := measure.Run(t.Context(), l, s.Name, cases, measure.Schedule{Rounds: 2, Slice: time.Nanosecond}, func(r *record.Record) error {
				records = append(records, r)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if len(records) != 2*len(cases) || len(cases) == 0 {
				t.Fatalf("%d records of %d cases", len(records), len(cases))
			}
			seen := map[string]bool{}
			for i, r := range records {
				if r.Case != cases[i%len(cases)].Name {
					t.Errorf("record %d is of %s: rounds are not interleaved", i, r.Case)
				}
				if r.Suite != s.Name || r.N == 0 || r.D == 0 || r.NNZ == 0 || r.Bytes == 0 || r.Workers == 0 || r.Seconds <= 0 || r.Level == "" || r.Commit != "abc" {
					t.Errorf("%+v", r)
				}
				if (r.GnnzPerS == nil) == (r.PairsPerS == nil) || r.RoofFraction == nil {
					t.Errorf("%s: %+v", r.Case, r)
				}
				if i < len(cases) && seen[r.Case] {
					t.Errorf("%s is there twice", r.Case)
				}
				seen[r.Case] = true
			}
		})
	}
}

// A run and a contest of a part leave the recordings of whole suites as they are.
func TestPartLeavesTheWhole(t *testing.T) {
	folder := t.TempDir()
	below, err := record.Folder(folder, measure.Machine())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"levels.jsonl", "peers-spmm.jsonl"} {
		if err := os.WriteFile(filepath.Join(below, name), []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{
		"run -suite levels -case Finite -count 1 -no-limits -quiet -record " + folder,
		"peers -suite spmm -n 2000 -peer james -case k=1/layout=plain/workers=1 -count 5 -slice 1ns -no-limits -quiet -record " + folder,
	} {
		// Suite levels fails where the machine is busy; its recording is kept.
		if code, _, stderr := call(strings.Fields(args)...); code != cli.OK && !strings.Contains(stderr, "suite levels: ") {
			t.Fatalf("%s: exit code %d: %s", args, code, stderr)
		}
	}
	for _, name := range []string{"levels", "peers-spmm"} {
		if text, err := os.ReadFile(filepath.Join(below, name+".jsonl")); err != nil || string(text) != "{}" {
			t.Errorf("%s became %q, %v", name, text, err)
		}
		if parts, err := filepath.Glob(filepath.Join(below, name+"-part-*.jsonl")); err != nil || len(parts) != 1 {
			t.Errorf("parts of %s: %q, %v", name, parts, err)
		}
	}
}

// A folder that cannot be had is an error before anything is measured.
func TestRecordingFolderIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	refuse(t, cli.Failed, []string{"run", "-suite", "spmm", "-quiet", "-record", file}, "file")
	refuse(t, cli.Failed, []string{"peers", "-quiet", "-record", file}, "file")
}
