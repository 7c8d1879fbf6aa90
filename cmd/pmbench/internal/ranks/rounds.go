package ranks

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// mostRounds is how many times as many rounds are measured as wanted, at most, where others disturb
// them.
const mostRounds = 3

// A rankRound is what one round has measured of a group: of each case, with all numbers of ranks,
// as many records as a start of mpirun makes.
type rankRound []*record.Record

// measure takes all groups in rounds, until each has as many calm ones as wanted, and returns the
// records of those that were chosen. Where not all of them are calm it names the group. With an
// error it returns what was measured before.
func (f *Options) measure(ctx context.Context, l *measure.Lab, groups []*rankGroup, world rankWorld) (records []*record.Record, disturbed []string, err error) {
	rounds, calm := make([][]rankRound, len(groups)), make([]*calmness, len(groups))
	for i := range calm {
		calm[i] = newCalmness(f.Stolen)
	}
	var half []*record.Record // of a round that the error has ended
	for round := 0; round < mostRounds*f.Count && err == nil; round++ {
		for i, g := range groups {
			if calm[i].count(rounds[i]) >= f.Count {
				continue
			}
			var one rankRound
			if one, err = g.round(ctx, world, func(ranks, at int) {
				l.Meter.Show(fmt.Sprintf("%s with %d ranks", g.name, ranks), f.progress(round).Piece(i, len(groups)).Piece(at, len(g.ranks)).At(0))
			}); err != nil {
				half = calm[i].medians(one)
				break
			}
			rounds[i] = append(rounds[i], one)
			calm[i].see(one)
		}
	}
	for i, g := range groups {
		chosen := calm[i].choose(rounds[i], f.Count)
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
func (f *Options) progress(round int) measure.Portion {
	last := measure.AllWork.Piece(f.Count-1, f.Count)
	switch {
	case round < f.Count-1:
		return measure.AllWork.Piece(round, f.Count)
	case round == f.Count-1:
		return last.Piece(0, 2)
	}
	return last.Piece(1, 2).Piece(round-f.Count, (mostRounds-1)*f.Count)
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
