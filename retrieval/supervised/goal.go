package supervised

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail"
)

// A Goal is what a recipe is chosen by: a mean over rows held out.
type Goal int

// The goals.
const (
	// GoalR1 is how often the nearest row has the label.
	GoalR1 Goal = iota
	// GoalP8 is the share of the eight nearest rows that have the label.
	GoalP8
	// GoalR8 is how often one of the eight nearest rows has the label.
	GoalR8
	// GoalMAP is the average precision of the hundred nearest rows.
	GoalMAP
	goals
)

// goalNames are the words of Goal.String.
var goalNames = [goals]string{GoalR1: "r1", GoalP8: "p8", GoalR8: "r8", GoalMAP: "map"}

func (g Goal) String() string {
	if g < 0 || g >= goals {
		return fmt.Sprintf("Goal(%d)", int(g))
	}
	return goalNames[g]
}

// ParseGoal reads what String writes: r1, p8, r8 or map.
//
// Errors: privatemail.ErrSettings.
func ParseGoal(text string) (Goal, error) {
	for g, name := range goalNames {
		if text == name {
			return Goal(g), nil
		}
	}
	return 0, fmt.Errorf("supervised: %w: no goal %q; there are r1, p8, r8 and map", privatemail.ErrSettings, text)
}
