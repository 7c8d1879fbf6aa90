package supervised

// Recall is what rows held out find among the others, each a mean over these rows.
type Recall struct {
	// At1 is how often the nearest row has the label, and At8 how often one of the eight
	// nearest has.
	At1, At8 float64
	// P8 is the share of the eight nearest that have the label.
	P8 float64
	// MAP is the average precision of the hundred nearest: for each of them that has the
	// label the share of these up to there, in the mean of as many as there could be. It is
	// 0 unless the goal is GoalMAP.
	MAP float64
}

// At returns the figure of a goal.
func (r Recall) At(g Goal) float64 {
	return [goals]float64{GoalR1: r.At1, GoalP8: r.P8, GoalR8: r.At8, GoalMAP: r.MAP}[g]
}

// A Trial is a recipe and what rows held out found under it.
type Trial struct {
	Recipe Recipe
	Recall
}

// Held is what was measured on labelled rows that were held out: for each of them a map was
// made, and the others were moved, without it.
type Held struct {
	// Goal is what the recipe was chosen by.
	Goal Goal
	// Rows is the number of rows held out.
	Rows int
	// Raw is the recall among the rows as they are, and Scaled among rows whose columns are
	// divided by their standard deviation. Where they are far behind others, these are figures
	// of the first hundreds of the rows held out.
	Raw, Scaled Recall
	// Chosen is what a choice finds: recipes were compared on nine tenths of the rows held
	// out, and the best was measured on the tenth that had no say, each tenth in turn. A
	// recipe that was given is measured on all.
	Chosen Recall
	// Error is the standard error of the goal of Chosen less that of the better one of Raw
	// and Scaled.
	Error float64
	// Best are the recipes that find most, best first, with what all rows held out found
	// under them; the one that was taken is among them. It is empty when the recipe was
	// given.
	Best []Trial
	// Tried is how many recipes were compared, 0 when the recipe was given.
	Tried int
	// Hub is the row that was the nearest of most rows held out, and HubShare of what share
	// of them. Rows that are all the same, or zeros, become hubs.
	Hub      int
	HubShare float64
}
