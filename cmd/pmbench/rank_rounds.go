package main

import (
	"context"
	"fmt"
)

// mostRounds is how many times as many rounds are measured as wanted, at most, where others disturb
// them.
const mostRounds = 3

// A rankRound is what one round has measured of a group: of each case, with all numbers of ranks,
// as many records as a start of mpirun makes.
type rankRound []*Record

// measure takes all groups in rounds, until each has as many calm ones as wanted, and returns the
// records of those that were chosen. Where not all of them are calm it names the group. With an
// error it returns what was measured before.
func (f *ranksFlags) measure(ctx context.Context, l *lab, groups []*rankGroup, world rankWorld) (records []*Record, disturbed []string, err error) {
	rounds, calm := make([][]rankRound, len(groups)), make([]*calmness, len(groups))
	for i := range calm {
		calm[i] = newCalmness(f.stolen)
	}
	var half []*Record // of a round that the error has ended
	for round := 0; round < mostRounds*f.count && err == nil; round++ {
		for i, g := range groups {
			if calm[i].count(rounds[i]) >= f.count {
				continue
			}
			var one rankRound
			if one, err = g.round(ctx, world, func(ranks, at int) {
				l.meter.show(fmt.Sprintf("%s with %d ranks", g.name, ranks), f.progress(round).piece(i, len(groups)).piece(at, len(g.ranks)).at(0))
			}); err != nil {
				half = calm[i].medians(one)
				break
			}
			rounds[i] = append(rounds[i], one)
			calm[i].see(one)
		}
	}
	for i, g := range groups {
		chosen := calm[i].choose(rounds[i], f.count)
		for _, r := range chosen {
			for _, record := range calm[i].medians(r) {
				record.Ranks.MeasuredRounds = len(rounds[i])
				records = append(records, record)
			}
		}
		if bad := len(chosen) - calm[i].count(chosen); bad > 0 {
			disturbed = append(disturbed, fmt.Sprintf("%s: %d of %d rounds", g.name, bad, len(chosen)))
		}
	}
	return append(records, half...), disturbed, err
}

// progress is the part of all work that a round is. Rounds that were not wanted, of which nobody
// knows how many there will be, share the second half of the last one's part.
func (f *ranksFlags) progress(round int) portion {
	last := allWork.piece(f.count-1, f.count)
	switch {
	case round < f.count-1:
		return allWork.piece(round, f.count)
	case round == f.count-1:
		return last.piece(0, 2)
	}
	return last.piece(1, 2).piece(round-f.count, (mostRounds-1)*f.count)
}

// round measures a group once, with all numbers of ranks.
func (g *rankGroup) round(ctx context.Context, world rankWorld, show func(ranks, at int)) (r rankRound, err error) {
	for at, ranks := range g.ranks {
		if len(g.cases[at]) == 0 {
			continue
		}
		show(ranks, at)
		own, err := world(ctx, ranks, g.cases[at])
		if err != nil {
			return r, fmt.Errorf("%s with %d ranks: %w", g.name, ranks, err)
		}
		r = append(r, own...)
	}
	return r, nil
}
