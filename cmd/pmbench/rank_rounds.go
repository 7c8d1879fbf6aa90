package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// mostRounds is how many times as many rounds are measured as wanted, at most, where the host of
// a virtual machine disturbs them.
const mostRounds = 3

// A rankRound is what one round has measured of a group.
type rankRound struct {
	records []*Record // of all numbers of ranks
	stolen  float64   // the largest share of the processors' time that the host took from one of them
}

// measure takes all groups in rounds, until each has as many calm ones as wanted, and returns the
// records of those that were chosen. With an error it returns what was measured before.
func (f *ranksFlags) measure(ctx context.Context, l *lab, groups []*rankGroup, world rankWorld) (records []*Record, disturbed []string, err error) {
	rounds := make([][]rankRound, len(groups))
	for round := 0; round < mostRounds*f.count && err == nil; round++ {
		for i, g := range groups {
			if f.calm(rounds[i]) >= f.count {
				continue
			}
			show := func(ranks, at int) {
				share := allWork.piece(min(round, f.count-1), f.count).piece(i, len(groups)).piece(at, len(g.ranks)).from
				l.meter.show(fmt.Sprintf("%s with %d ranks", g.name, ranks), share)
			}
			var one rankRound
			one, err = g.round(ctx, world, show)
			if len(one.records) > 0 {
				rounds[i] = append(rounds[i], one)
			}
			if err != nil {
				break
			}
		}
	}
	for i, g := range groups {
		for _, r := range f.choose(rounds[i]) {
			records = append(records, r.records...)
		}
		if calm := f.calm(rounds[i]); calm < min(len(rounds[i]), f.count) {
			disturbed = append(disturbed, fmt.Sprintf("%s: %d of %d rounds", g.name, min(len(rounds[i]), f.count)-calm, min(len(rounds[i]), f.count)))
		}
	}
	return records, disturbed, err
}

// round measures a group once, with all numbers of ranks.
func (g *rankGroup) round(ctx context.Context, world rankWorld, show func(ranks, at int)) (r rankRound, err error) {
	for at, ranks := range g.ranks {
		if len(g.cases[at]) == 0 {
			continue
		}
		show(ranks, at)
		var own []*Record
		stolen, err := stolenShare(func() (err error) {
			own, err = world(ctx, ranks, g.cases[at])
			return err
		})
		if err != nil {
			return r, fmt.Errorf("%s with %d ranks: %w", g.name, ranks, err)
		}
		for _, one := range medianRecords(own) {
			one.Ranks.Stolen = stolen
			r.records = append(r.records, one)
		}
		r.stolen = max(r.stolen, stolen)
	}
	return r, nil
}

// calm returns how many rounds the host has not disturbed.
func (f *ranksFlags) calm(rounds []rankRound) (n int) {
	for _, r := range rounds {
		if 100*r.stolen <= f.stolen {
			n++
		}
	}
	return n
}

// choose returns as many rounds as wanted, in their order: those that the host has disturbed
// least. Of rounds that are calm the first are chosen, whatever they have measured.
func (f *ranksFlags) choose(rounds []rankRound) (out []rankRound) {
	order := make([]int, len(rounds))
	for i := range order {
		order[i] = i
	}
	disturbance := func(i int) float64 { return max(100*rounds[i].stolen, f.stolen) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(disturbance(a), disturbance(b)) })
	order = order[:min(len(order), f.count)]
	slices.Sort(order)
	for _, i := range order {
		out = append(out, rounds[i])
	}
	return out
}
