package measure

import (
	"context"
	"fmt"
	"runtime"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

// Rank 0 measures, and only it knows how often. Before every operation it tells the other
// ranks the number of the case, so that all of them do the same in the same order. Between
// operations they read the yardstick and collect garbage with it.

// lead returns cases that take the other ranks of the lab along.
func lead(l *Lab, cases []Case) []Case {
	out := make([]Case, len(cases))
	for i, c := range cases {
		out[i] = c
		out[i].Setup = func(ctx context.Context, l *Lab) (*Subject, error) {
			if err := tell(ctx, l.Ranks, i); err != nil {
				return nil, err
			}
			sub, err := c.Setup(ctx, l)
			if err != nil {
				return nil, err
			}
			alone := sub.Run
			sub.Run = func(ctx context.Context) error {
				if err := tell(ctx, l.Ranks, i); err != nil {
					return err
				}
				return alone(ctx)
			}
			return sub, nil
		}
	}
	return out
}

// follow does what rank 0 says until rank 0 has no more.
func follow(ctx context.Context, l *Lab, cases []Case) error {
	subjects := make([]*Subject, len(cases))
	_, workers := l.sharedYard()
	yard := &yardstick{workers: l.Workers(max(workers, 1)), ranks: l.Ranks}
	for {
		i, err := hear(ctx, l.Ranks)
		if err != nil || i == len(cases) {
			return err
		}
		switch {
		case i < collectGarbage || i > len(cases):
			return fmt.Errorf("rank 0 names case %d of %d", i, len(cases))
		case i == readYard:
			if _, err := yard.readAlong(ctx); err != nil {
				return err
			}
			continue
		case i == collectGarbage:
			runtime.GC()
			continue
		case subjects[i] == nil:
			subjects[i], err = cases[i].Setup(ctx, l)
		default:
			err = subjects[i].Run(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", cases[i].Name, err)
		}
	}
}

// What rank 0 sends instead of the number of a case.
const (
	readYard       = -1
	collectGarbage = -2 // so that the operations to come find as much memory as those of rank 0
)

// tell hands a number to the other ranks, hear takes it.
func tell(ctx context.Context, ranks *par.Ranks, number int) error {
	words := make([]int, ranks.Size())
	words[0] = number
	return exchange.Gather(ctx, ranks, words, ranks.Bounds(len(words)))
}

func hear(ctx context.Context, ranks *par.Ranks) (int, error) {
	words := make([]int, ranks.Size())
	err := exchange.Gather(ctx, ranks, words, ranks.Bounds(len(words)))
	return words[0], err
}

// Run measures cases on all ranks of the lab. Rank 0 emits the records.
func Run(ctx context.Context, l *Lab, suite string, cases []Case, s Schedule, emit func(*record.Record) error) error {
	switch {
	case l.Ranks.Alone():
		return measure(ctx, l, suite, cases, s, emit)
	case l.Ranks.Rank() > 0:
		return follow(ctx, l, cases)
	}
	if err := measure(ctx, l, suite, lead(l, cases), s, emit); err != nil {
		return err
	}
	return tell(ctx, l.Ranks, len(cases))
}
