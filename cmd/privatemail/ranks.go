package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/par"
)

// agreeError returns nil where no rank has an error, and one with the same text on every rank
// otherwise: that of the first rank that has one, with its number in front unless all have
// the same. All ranks call it, so none goes on where another has failed.
func agreeError(ctx context.Context, ranks *par.Ranks, err error) error {
	if ranks.Alone() {
		return err
	}
	text := []byte{}
	if err != nil {
		text = append(text, err.Error()...)
	}
	all, bounds, failed := par.GatherAll(ctx, ranks, text)
	if failed != nil {
		return errors.Join(err, failed)
	}
	first, common := -1, true
	for r := range ranks.Size() {
		switch said := string(all[bounds[r]:bounds[r+1]]); {
		case first < 0 && said != "":
			first, common = r, r == 0
		case first >= 0 && said != string(all[bounds[first]:bounds[first+1]]):
			common = false
		}
	}
	switch {
	case first < 0:
		return nil
	case common:
		return err
	case first == ranks.Rank():
		return fmt.Errorf("rank %d: %w", first, err)
	}
	return fmt.Errorf("rank %d: %s", first, all[bounds[first]:bounds[first+1]])
}

// onFirst lets rank 0 alone do something, and tells the others of its error.
func onFirst(ctx context.Context, ranks *par.Ranks, work func() error) error {
	var err error
	if ranks.Rank() == 0 {
		err = work()
	}
	if ranks.Alone() {
		return err
	}
	text := []byte{}
	if err != nil {
		text = append(text, err.Error()...)
	}
	all, _, failed := par.GatherAll(ctx, ranks, text)
	switch {
	case failed != nil:
		return errors.Join(err, failed)
	case err != nil || len(all) == 0:
		return err
	}
	return errors.New(string(all))
}

// fromFirst returns the text that rank 0 has.
func fromFirst(ctx context.Context, ranks *par.Ranks, text string) (string, error) {
	if ranks.Rank() != 0 {
		text = ""
	}
	all, _, err := par.GatherAll(ctx, ranks, []byte(text))
	return string(all), err
}

// leastOf returns the least of the numbers that ranks have.
func leastOf(ctx context.Context, ranks *par.Ranks, own int64) (int64, error) {
	all, _, err := par.GatherAll(ctx, ranks, []int64{own})
	for _, other := range all {
		own = min(own, other)
	}
	return own, err
}
