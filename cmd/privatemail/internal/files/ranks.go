package files

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

// gatherErrors returns the text of the error of each rank, nil where it has none.
func gatherErrors(ctx context.Context, ranks *par.Ranks, err error) (texts []*string, _ error) {
	var own []byte
	if err != nil {
		own = append(own, "."+err.Error()...) // the dot distinguishes an error without a text from none
	}
	all, bounds, failed := exchange.GatherAll(ctx, ranks, own)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	texts = make([]*string, ranks.Size())
	for r := range texts {
		if said := string(all[bounds[r]:bounds[r+1]]); said != "" {
			said = said[1:]
			texts[r] = &said
		}
	}
	return texts, nil
}

// agreeError returns nil where no rank has an error, and one with the same text on every rank
// otherwise: that of the first rank that has one, with its number in front unless all have
// the same. All ranks call it, so none goes on where another has failed.
func agreeError(ctx context.Context, ranks *par.Ranks, err error) error {
	if ranks.Alone() {
		return err
	}
	texts, failed := gatherErrors(ctx, ranks, err)
	if failed != nil {
		return failed
	}
	first := slices.IndexFunc(texts, func(text *string) bool { return text != nil })
	if first < 0 {
		return nil
	}
	other := func(text *string) bool { return text == nil || *text != *texts[first] }
	switch {
	case !slices.ContainsFunc(texts, other):
		return err
	case first == ranks.Rank():
		return fmt.Errorf("rank %d: %w", first, err)
	}
	return fmt.Errorf("rank %d: %s", first, *texts[first])
}

// OnFirst lets rank 0 alone do something, and sends the other ranks its error.
func OnFirst(ctx context.Context, ranks *par.Ranks, work func() error) error {
	var err error
	if ranks.Rank() == 0 {
		err = work()
	}
	if ranks.Alone() {
		return err
	}
	texts, failed := gatherErrors(ctx, ranks, err)
	switch {
	case failed != nil:
		return failed
	case ranks.Rank() != 0 && texts[0] != nil:
		return errors.New(*texts[0])
	}
	return err
}

// fromFirst returns the text that rank 0 has.
func fromFirst(ctx context.Context, ranks *par.Ranks, text string) (string, error) {
	if ranks.Rank() != 0 {
		text = ""
	}
	all, _, err := exchange.GatherAll(ctx, ranks, []byte(text))
	return string(all), err
}

// leastOf returns the least of the numbers that ranks have.
func leastOf(ctx context.Context, ranks *par.Ranks, own int64) (int64, error) {
	all, err := exchange.GatherEqual(ctx, ranks, []int64{own})
	for _, other := range all {
		own = min(own, other)
	}
	return own, err
}
