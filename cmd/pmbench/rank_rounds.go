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
	stolen  float64   // the largest of their shares; 0 where nobody knows
}

// measure takes all groups in rounds, until each has as many calm ones as wanted, and returns the
// records of those that were chosen. Where not all of them are calm it names the group. With an
// error it returns what was measured before.
func (f *ranksFlags) measure(ctx context.Context, l *lab, groups []*rankGroup, world rankWorld) (records []*Record, disturbed []string, err error) {
	rounds := make([][]rankRound, len(groups))
	var half rankRound // which the error has ended
	for round := 0; round < mostRounds*f.count && err == nil; round++ {
		for i, g := range groups {
			if f.calm(rounds[i]) >= f.count {
				continue
			}
			var one rankRound
			if one, err = g.round(ctx, world, f.stolen/100, func(ranks, at int) {
				l.meter.show(fmt.Sprintf("%s with %d ranks", g.name, ranks), f.progress(round).piece(i, len(groups)).piece(at, len(g.ranks)).from)
			}); err != nil {
				half = one
				break
			}
			rounds[i] = append(rounds[i], one)
		}
	}
	for i, g := range groups {
		chosen := f.choose(rounds[i])
		for _, r := range chosen {
			for _, record := range r.records {
				record.Ranks.MeasuredRounds = len(rounds[i])
			}
			records = append(records, r.records...)
		}
		if calm := f.calm(chosen); calm < len(chosen) {
			disturbed = append(disturbed, fmt.Sprintf("%s: %d of %d rounds", g.name, len(chosen)-calm, len(chosen)))
		}
	}
	return append(records, half.records...), disturbed, err
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

// round measures a group once, with all numbers of ranks. Measurements are calm from which the
// host has taken most, a share, or less.
func (g *rankGroup) round(ctx context.Context, world rankWorld, most float64, show func(ranks, at int)) (r rankRound, err error) {
	for at, ranks := range g.ranks {
		if len(g.cases[at]) == 0 {
			continue
		}
		show(ranks, at)
		own, err := world(ctx, ranks, g.cases[at])
		if err != nil {
			return r, fmt.Errorf("%s with %d ranks: %w", g.name, ranks, err)
		}
		for _, one := range medianRecords(own, most) {
			r.records, r.stolen = append(r.records, one), max(r.stolen, one.stolen())
		}
	}
	return r, nil
}

// calm returns how many rounds the host has not disturbed.
func (f *ranksFlags) calm(rounds []rankRound) (n int) {
	for _, r := range rounds {
		if r.stolen <= f.stolen/100 {
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
	disturbance := func(i int) float64 { return max(rounds[i].stolen, f.stolen/100) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(disturbance(a), disturbance(b)) })
	order = order[:min(len(order), f.count)]
	slices.Sort(order)
	for _, i := range order {
		out = append(out, rounds[i])
	}
	return out
}
