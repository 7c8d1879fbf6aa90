package measure

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/par"
)

// sharedRun measures cases on ranks that are goroutines, each with its own cases.
func sharedRun(t *testing.T, ranks int, cases func(rank int) []Case) (records []*record.Record, err error) {
	t.Helper()
	err = cluster.Local(ranks, func(r *par.Ranks) error {
		l := testLab(t)
		l.Ranks = r
		return Run(t.Context(), l, "ranks", cases(r.Rank()), Schedule{Rounds: 2, Slice: 20 * time.Millisecond}, func(r *record.Record) error {
			records = append(records, r)
			return nil
		})
	})
	return records, err
}

// Only rank 0 decides how often an operation is done, and all ranks do the same.
func TestRanksDoTheSame(t *testing.T) {
	const ranks = 3
	done := make([][]string, ranks)
	records, err := sharedRun(t, ranks, func(rank int) (out []Case) {
		for _, name := range []string{"a", "b"} {
			out = append(out, Case{Name: name, N: 1, Workers: 1, Setup: func(context.Context, *Lab) (*Subject, error) {
				done[rank] = append(done[rank], "setup "+name)
				return &Subject{Roof: RoofRead, Run: func(context.Context) error {
					done[rank] = append(done[rank], name)
					return nil
				}}, nil
			}})
		}
		return out
	})
	if err != nil || len(records) != 4 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if len(done[0]) < 8 || done[0][0] != "setup a" || !slices.Contains(done[0], "setup b") {
		t.Errorf("rank 0 did %q", done[0])
	}
	for rank := 1; rank < ranks; rank++ {
		if !slices.Equal(done[rank], done[0]) {
			t.Errorf("rank %d did %q, rank 0 %q", rank, done[rank], done[0])
		}
	}
}

// A rank that fails ends the others, and its error names the case.
func TestRankThatFails(t *testing.T) {
	failure := errors.New("no memory")
	for _, bad := range []int{0, 1} {
		_, err := sharedRun(t, 2, func(rank int) []Case {
			return []Case{{Name: "graph=x", N: 1, Workers: 1, Setup: func(context.Context, *Lab) (*Subject, error) {
				if rank == bad {
					return nil, failure
				}
				return &Subject{Roof: RoofRead, Run: func(context.Context) error { return nil }}, nil
			}}}
		})
		if !errors.Is(err, failure) || !strings.Contains(err.Error(), "graph=x") {
			t.Errorf("rank %d fails: %v", bad, err)
		}
	}
}
