package distance

import (
	"context"

	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/par"
)

// A Tournament lets every block of rows meet every other once, and itself
// once, in rounds in which no block plays twice. The games of a round can
// therefore run at the same time and each add to both of its blocks: all pairs
// are visited once and not twice, no two workers write the same row, and every
// row receives its terms in the order of the rounds, whatever the workers do.
//
// Round 0 is each block against itself; the others are the circle method: the
// last block stays, the others move round.
type Tournament struct {
	Blocks int
}

// players returns the number of blocks, rounded up to an even number. A game with the
// extra player is a bye.
func (t Tournament) players() int { return t.Blocks + t.Blocks%2 }

// Rounds returns the number of rounds.
func (t Tournament) Rounds() int { return max(t.players(), 1) }

// games returns the number of games in a round, byes included.
func (t Tournament) games(round int) int {
	if round == 0 {
		return t.Blocks
	}
	return t.players() / 2
}

// Game returns the blocks a <= b of a game; ok is false for a bye.
func (t Tournament) Game(round, game int) (a, b int, ok bool) {
	if round == 0 {
		return game, game, true
	}
	circle, turn := t.players()-1, round-1
	if game == 0 {
		a, b = circle, turn
	} else {
		a, b = (turn+game)%circle, (turn-game+circle)%circle
	}
	if a > b {
		a, b = b, a
	}
	return a, b, b < t.Blocks
}

// Play plays all rounds: task runs the games of the one that round says.
func (t Tournament) Play(ctx context.Context, workers *par.Workers, task par.Task, round *int, progress *rows.Progress) error {
	for *round = range t.Rounds() {
		if err := workers.Do(ctx, t.games(*round), task); err != nil {
			return err
		}
		progress.Set(*round + 1)
	}
	return nil
}
