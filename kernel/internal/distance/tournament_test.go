package distance

import (
	"testing"
)

func TestTournamentMeetsEveryPairOnce(t *testing.T) {
	for blocks := range 12 {
		if blocks == 0 {
			continue
		}
		games := Tournament{Blocks: blocks}
		met := make(map[[2]int]int)
		for round := range games.Rounds() {
			playing := make(map[int]bool)
			for g := range games.games(round) {
				a, b, ok := games.Game(round, g)
				if !ok {
					continue
				}
				if playing[a] || playing[b] {
					t.Errorf("blocks=%d: a block plays twice in round %d", blocks, round)
				}
				playing[a], playing[b] = true, true
				met[[2]int{a, b}]++
			}
		}
		for a := range blocks {
			for b := a; b < blocks; b++ {
				if met[[2]int{a, b}] != 1 {
					t.Errorf("blocks=%d: %d and %d met %d times", blocks, a, b, met[[2]int{a, b}])
				}
			}
		}
	}
}
