package supervised_test

import (
	"context"
	"errors"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/longtest"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// Whenever the context ends, Fit ends with it: after the call of a progress function that
// ends it there is at most one more, that of work which was under way.
func TestFitEndsWithItsContext(t *testing.T) {
	x, labels := labelledRows(150, 70, 31)
	all := []string{"classic", "deep", "whiten,columns=20", "columns=20", "auto"}
	for _, text := range longtest.Pick(all[:1], all, all) {
		s := new(supervised.Settings)
		if text != "auto" {
			s = fixed(text)
		}
		calls := countCalls(t, s, -1, func(e *privatemail.Engine, ctx context.Context) error {
			_, err := supervised.Fit(ctx, e, single(x), labels, s)
			return err
		})
		if calls < 5 {
			t.Errorf("%s: %d calls of progress functions", text, calls)
		}
		for stop := 0; stop < calls; stop += max(calls/7, 1) {
			got := countCalls(t, s, stop, func(e *privatemail.Engine, ctx context.Context) error {
				_, err := supervised.Fit(ctx, e, single(x), labels, s)
				if stop < calls-2 && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, ended at call %d of %d: %v", text, stop, calls, err)
				}
				return nil
			})
			if got > stop+2 {
				t.Errorf("%s: %d calls after the context has ended at call %d of %d", text, got-stop-1, stop, calls)
			}
		}
	}
}

// countCalls returns how often progress functions are called, that of the settings and that
// of an Engine with one worker. A context ends at the given call, never where it is -1.
func countCalls(t *testing.T, s *supervised.Settings, stop int, work func(*privatemail.Engine, context.Context) error) (calls int) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	count := func() {
		if calls == stop {
			cancel()
		}
		calls++
	}
	e, err := privatemail.New(privatemail.WithWorkers(1), privatemail.WithProgress(func(privatemail.Progress) { count() }))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s.Progress = func(string, int, int) { count() }
	if err := work(e, ctx); err != nil {
		t.Fatal(err)
	}
	return calls
}
