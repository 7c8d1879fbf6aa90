package supervised

import "math"

// A plan says on how many rows recipes are compared: as many as a few seconds allow, by their
// number and their columns alone, so that the same rows give the same choice everywhere.
type plan struct {
	rows  int // that take part
	parts int // into which they are divided; one is held out at a time
	folds int // how many of them are held out, at most
	held  int // how many rows are held out in all, some of them more than once
}

const (
	// mostRows is how many rows take part at most.
	mostRows = 20_000
	// covarianceProducts is how many products of two numbers a covariance of the rows may take,
	// searchProducts how many a search for the rows held out in one recipe of those for rows of
	// few columns, wideProducts in one of the fewer for rows of many, and factorProducts how many
	// the factors of the covariances of all folds.
	covarianceProducts, searchProducts, wideProducts, factorProducts = 8e9, 5e9, 1.5e10, 1.2e9
	// enoughHeld is how many rows are held out where time allows, and moreHeld is how many
	// where there are that many.
	enoughHeld, moreHeld = 1000, 5000
	// pairProducts is how many products of two numbers a pair of rows of a search takes at least,
	// however few columns there are.
	pairProducts = 256
	// leastHeld is how many are held out whatever it takes.
	leastHeld = 1000
	// mostTurns is how often all rows are held out at most.
	mostTurns = 3
)

// planOf returns the plan for n labelled rows of d columns.
func planOf(n, d int) plan {
	columns := float64(d)
	rows := min(float64(n), mostRows, max(covarianceProducts/(columns*columns), min(columns, math.Sqrt(covarianceProducts/columns))))
	p := plan{rows: int(rows), parts: 10}
	width := min(columns, rows) // rows lie in their span
	p.folds = int(min(max(factorProducts/(width*width*width), 1), float64(p.parts*mostTurns)))
	switch {
	case p.folds == 1: // which has to do
		p.parts = min(max(p.rows/enoughHeld, 3), p.parts)
	case p.folds < p.parts:
		p.parts = 5
	}
	enough := max(enoughHeld, min(rows, moreHeld))
	search := searchProducts
	if d > manyColumns {
		search = wideProducts
	}
	p.held = int(min(max(search/(rows*max(width, pairProducts)), leastHeld), enough, rows*mostTurns))
	return p
}
