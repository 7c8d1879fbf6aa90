// Package synth makes synthetic sets of points. [Uniform], [Clustered] and [Classes]
// are pure functions of their arguments; [Kinds] lists them by name with the law each
// of them draws from.
package synth

import (
	"fmt"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"
)

// Request says which set a Kind should make. N and D must be positive; Classes is only
// used for sets with labels; 0 means 10.
type Request struct {
	N, D    int
	Classes int
	Seed    uint64
}

// Kind is a synthetic set with a name.
type Kind struct {
	// Name is the word that the user types, and Law describes the points in one line.
	Name, Law string
	// Labelled reports whether Make returns labels; otherwise they are nil.
	Labelled bool
	// Make draws the set.
	Make func(Request) (blas32.General, []int32, error)
}

const defaultClasses = 10

var kinds = []Kind{
	{
		Name: "classes",
		Law:  "unit rows around a random centre per class, noise of length 0.5",
		Make: func(r Request) (blas32.General, []int32, error) {
			if r.Classes == 0 {
				r.Classes = defaultClasses
			}
			return Classes(r.N, r.D, r.Classes, r.Seed)
		},
		Labelled: true,
	},
	{
		Name: "clustered",
		Law:  "Gaussian clumps of very different size and density, a tenth uniform",
		Make: func(r Request) (blas32.General, []int32, error) {
			x, err := Clustered(r.N, r.D, r.Seed)
			return x, nil, err
		},
	},
	{
		Name: "uniform",
		Law:  "independent points, uniform in the unit cube",
		Make: func(r Request) (blas32.General, []int32, error) {
			x, err := Uniform(r.N, r.D, r.Seed)
			return x, nil, err
		},
	},
}

// Kinds returns all synthetic sets in the order of their names.
func Kinds() []Kind {
	return slices.Clone(kinds)
}

// KindNamed returns the set with a name. The error lists all names.
func KindNamed(name string) (Kind, error) {
	var names []string
	for _, k := range kinds {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("synth: there is no kind of set %q, want one of %s", name, strings.Join(names, ", "))
}
