package supervised

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail"
)

// A Projection is the linear part of a map.
type Projection int

// The projections.
const (
	// Keep leaves the columns as they are, or takes their leading principal components.
	Keep Projection = iota
	// Whiten shrinks the directions in which rows of one class differ.
	Whiten
	// Discriminate keeps, of what Whiten makes, the directions in which the means of
	// classes differ: one less than there are classes.
	Discriminate
)

// projections are the words of Recipe.String.
var projections = [...]string{Keep: "keep", Whiten: "whiten", Discriminate: "discriminate"}

func (p Projection) String() string {
	if p < 0 || int(p) >= len(projections) {
		return fmt.Sprintf("Projection(%d)", int(p))
	}
	return projections[p]
}

// A Recipe says what becomes of a row, from its first change to its last. The zero Recipe
// leaves rows as they are.
type Recipe struct {
	// Root takes the square root of every value, keeping its sign. Features that are
	// never negative and mostly small, as those of deep networks, gain by it.
	Root bool
	// UnitRows divides every row by its norm.
	UnitRows bool
	// Standardize divides every column by its standard deviation.
	Standardize bool
	// Weigh multiplies every column by how much it says of the classes: columns in which
	// classes do not differ more than by chance are left out. Not with Standardize:
	// each of them scales the columns.
	Weigh bool
	// Projection is the linear map.
	Projection Projection
	// Columns is how many columns the projection leaves: principal components with
	// Keep, and with the others the directions in which rows, or means, differ most
	// relative to their classes. 0 for as many as there are.
	Columns int
	// Ridge keeps Whiten and Discriminate from shrinking too much: Ridge times the mean
	// variance within classes is added to the variance of every direction. The less, the
	// stronger the map. 0 with Keep, above 0 with the others.
	Ridge float64
	// UnitImages divides what the map gives by its norm, unless that is one column, of which
	// only the signs would be left.
	UnitImages bool
	// Steps is how many steps draw rows of a class together. Queries do not move.
	Steps int
	// Beta is the weight of the labels against the neighbours in a step, and Neighbours
	// the mean number of neighbours of a row, or all others if they are fewer. 0 without
	// steps.
	Beta, Neighbours float64
}

// The values that steps and projections have unless somebody says otherwise.
const (
	defaultBeta       = 3
	defaultNeighbours = 20
	defaultRidge      = 1
)

// rawRecipe leaves rows as they are.
func rawRecipe() Recipe { return Recipe{} }

// scaledRecipe divides every column by its standard deviation.
func scaledRecipe() Recipe { return Recipe{Standardize: true} }

// Classic is the recipe with one setting for all data: a whitening of moderate strength,
// unit images and one step. It suits deep features and harms sets of few columns.
func Classic() Recipe {
	return Recipe{Projection: Whiten, Ridge: defaultRidge, UnitImages: true, Steps: 1, Beta: defaultBeta, Neighbours: defaultNeighbours}
}

// Deep is what Fit chooses on most sets of deep features: roots of unit rows, one
// direction less than there are classes, unit images and one step.
func Deep() Recipe {
	r := Classic()
	r.Root, r.UnitRows, r.Projection = true, true, Discriminate
	return r
}

// named are the recipes that have a name.
func named() map[string]Recipe {
	return map[string]Recipe{"raw": rawRecipe(), "scaled": scaledRecipe(), "classic": Classic(), "deep": Deep()}
}

// String returns the recipe as ParseRecipe reads it, one word a change in the order in
// which they happen: "root,unit-rows,discriminate,ridge=1,unit-images,steps=1,beta=3".
// That of the zero Recipe is "raw".
func (r Recipe) String() string {
	var words []string
	add := func(on bool, word string) {
		if on {
			words = append(words, word)
		}
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	add(r.Root, "root")
	add(r.UnitRows, "unit-rows")
	add(r.Standardize, "standardize")
	add(r.Weigh, "weigh")
	add(r.Projection != Keep, r.Projection.String())
	add(r.Ridge != 0, "ridge="+number(r.Ridge))
	add(r.Columns != 0, "columns="+strconv.Itoa(r.Columns))
	add(r.UnitImages, "unit-images")
	add(r.Steps != 0, "steps="+strconv.Itoa(r.Steps))
	add(r.Beta != 0, "beta="+number(r.Beta))
	add(r.Neighbours != 0 && r.Neighbours != defaultNeighbours, "neighbours="+number(r.Neighbours))
	if words == nil {
		return "raw"
	}
	return strings.Join(words, ",")
}

// ParseRecipe reads a recipe: words with commas between, as String writes them. Ridge is 1
// where there is a projection, beta 3 and neighbours 20 where there are steps, unless they
// are said. The first word may be the name of a recipe that the others change: raw, scaled,
// classic or deep.
//
// Errors: privatemail.ErrSettings.
func ParseRecipe(text string) (Recipe, error) {
	var r Recipe
	for i, word := range strings.Split(text, ",") {
		word = strings.TrimSpace(word)
		if known, ok := named()[word]; ok && i == 0 {
			r = known
			continue
		}
		if err := r.set(word); err != nil {
			return Recipe{}, err
		}
	}
	r.Complete()
	return r, r.Check()
}

// set takes one word of a recipe.
func (r *Recipe) set(word string) error {
	name, value, has := strings.Cut(word, "=")
	var err error
	switch {
	case name == "root" && !has:
		r.Root = true
	case name == "unit-rows" && !has:
		r.UnitRows = true
	case name == "standardize" && !has:
		r.Standardize = true
	case name == "weigh" && !has:
		r.Weigh = true
	case name == Whiten.String() && !has:
		r.Projection = Whiten
	case name == Discriminate.String() && !has:
		r.Projection = Discriminate
	case name == "unit-images" && !has:
		r.UnitImages = true
	case name == "ridge" && has:
		r.Ridge, err = strconv.ParseFloat(value, 64)
	case name == "columns" && has:
		r.Columns, err = strconv.Atoi(value)
	case name == "steps" && has:
		r.Steps, err = strconv.Atoi(value)
	case name == "beta" && has:
		r.Beta, err = strconv.ParseFloat(value, 64)
	case name == "neighbours" && has:
		r.Neighbours, err = strconv.ParseFloat(value, 64)
	default:
		return fmt.Errorf("supervised: recipe: %w: no word %q; there are raw, scaled, classic and deep, which come first, and root, unit-rows, standardize, weigh, whiten, discriminate, ridge=, columns=, unit-images, steps=, beta=, neighbours=", privatemail.ErrSettings, word)
	}
	if err != nil {
		return fmt.Errorf("supervised: recipe: %w: %q is no number after %s=", privatemail.ErrSettings, value, name)
	}
	if name == "ridge" && r.Ridge == 0 || name == "beta" && r.Beta == 0 || name == "neighbours" && r.Neighbours == 0 {
		return fmt.Errorf("supervised: recipe: %w: %s is 0, want more", privatemail.ErrSettings, name)
	}
	return nil
}

// Complete fills in what a recipe needs and was not given, and drops what it cannot use.
func (r *Recipe) Complete() {
	switch {
	case r.Projection == Keep:
		r.Ridge = 0
	case r.Ridge == 0:
		r.Ridge = defaultRidge
	}
	if r.Steps == 0 {
		r.Beta, r.Neighbours = 0, 0
		return
	}
	if r.Beta == 0 {
		r.Beta = defaultBeta
	}
	if r.Neighbours == 0 {
		r.Neighbours = defaultNeighbours
	}
}

// Check refuses what cannot be done: privatemail.ErrSettings.
func (r Recipe) Check() error {
	finite := func(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }
	switch {
	case r.Projection < Keep || r.Projection > Discriminate:
		return fmt.Errorf("supervised: recipe: %w: %v", privatemail.ErrSettings, r.Projection)
	case r.Standardize && r.Weigh:
		return fmt.Errorf("supervised: recipe: %w: standardize and weigh, want one of them: each scales the columns", privatemail.ErrSettings)
	case r.Columns < 0 || r.Steps < 0:
		return fmt.Errorf("supervised: recipe: %w: %d columns and %d steps, want 0 or more", privatemail.ErrSettings, r.Columns, r.Steps)
	case !finite(r.Ridge) || !finite(r.Beta) || !finite(r.Neighbours):
		return fmt.Errorf("supervised: recipe: %w: ridge %g, beta %g and neighbours %g, want finite numbers of 0 or more", privatemail.ErrSettings, r.Ridge, r.Beta, r.Neighbours)
	case (r.Projection == Keep) != (r.Ridge == 0):
		return fmt.Errorf("supervised: recipe: %w: a ridge of %g, want one above 0 with whiten and discriminate, and none without them", privatemail.ErrSettings, r.Ridge)
	case (r.Steps == 0) != (r.Beta == 0 && r.Neighbours == 0) || r.Steps > 0 && r.Neighbours == 0:
		return fmt.Errorf("supervised: recipe: %w: beta %g and %g neighbours for %d steps, want both with steps and none without", privatemail.ErrSettings, r.Beta, r.Neighbours, r.Steps)
	}
	return nil
}

// preparation is the part of a recipe that comes before all sums.
type preparation struct{ root, unitRows bool }

func (r Recipe) preparation() preparation { return preparation{r.Root, r.UnitRows} }

// still returns the recipe without its steps: what places queries.
func (r Recipe) still() Recipe {
	r.Steps, r.Beta, r.Neighbours = 0, 0, 0
	return r
}
