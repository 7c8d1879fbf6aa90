package evaluate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// A Cell is one measurement of a sweep.
type Cell struct {
	Data        string `json:"data"`
	Fingerprint string `json:"fingerprint"`
	Mode        string `json:"mode"`
	Seed        uint64 `json:"seed"`
	// Queries is how many are asked, 0 for all.
	Queries int `json:"queries,omitempty"`
	Params
}

// String says which measurement it is, for messages.
func (c Cell) String() string {
	text := fmt.Sprintf("%s on %s, seed %d", c.Mode, c.Data, c.Seed)
	if c.Epsilon > 0 {
		text += fmt.Sprintf(", epsilon %g", c.Epsilon)
	}
	return text
}

// cellVersion is part of every key. It changes when figures change their
// meaning or new ones come, so that old records are not taken for new ones: means
// over both would count what the old ones lack as 0.
const cellVersion = 4

// finite reports whether all parameters are numbers.
func (c Cell) finite() bool {
	return !slices.ContainsFunc([]float64{c.Epsilon, c.Delta, c.Alpha, c.Sigma}, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// key identifies a finite cell: a hash of all its fields.
func (c Cell) key() string {
	text, err := json.Marshal(struct {
		Version int `json:"version"`
		Cell
	}{cellVersion, c})
	if err != nil {
		panic("evaluate: a cell cannot be encoded: " + err.Error())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// A Grid spans cells. For each data set, seed and mode, the mode's defaults are
// crossed with the lists of those parameters that the mode uses; an empty list
// stands for the default.
type Grid struct {
	Data     []*Data
	Modes    []Mode
	Seeds    []uint64
	Queries  int // 0 for what the mode says
	Epsilons []float64
	Columns  []int
	Alphas   []float64
	Sigmas   []float64
	Steps    []int
}

// Cells returns the cells, data set by data set and seed by seed. The error is
// that of data whose shape is wrong.
func (g Grid) Cells() ([]Cell, error) {
	var cells []Cell
	for _, d := range g.Data {
		identity, err := d.fingerprint()
		if err != nil {
			return nil, err
		}
		for _, seed := range g.Seeds {
			for _, m := range g.Modes {
				queries := m.Queries
				if g.Queries > 0 {
					queries = g.Queries
				}
				for _, p := range g.params(m) {
					cells = append(cells, Cell{Data: d.Name, Fingerprint: identity, Mode: m.Name, Seed: seed, Queries: queries, Params: p})
				}
			}
		}
	}
	return cells, nil
}

func (g Grid) params(m Mode) []Params {
	list := []Params{m.Defaults.only(m.Uses)}
	list = cross(list, m.Uses, UsesEpsilon, g.Epsilons, func(p *Params, v float64) { p.Epsilon = v })
	list = cross(list, m.Uses, UsesColumns, g.Columns, func(p *Params, v int) { p.Dim = v })
	list = cross(list, m.Uses, UsesAlpha, g.Alphas, func(p *Params, v float64) { p.Alpha = v })
	list = cross(list, m.Uses, UsesSigma, g.Sigmas, func(p *Params, v float64) { p.Sigma = v })
	return cross(list, m.Uses, UsesSteps, g.Steps, func(p *Params, v int) { p.Steps = v })
}

// cross replaces each element by one for each value, when the axis is used.
func cross[T any](list []Params, uses, axis Axes, values []T, set func(*Params, T)) []Params {
	if !uses.Has(axis) || len(values) == 0 {
		return list
	}
	var out []Params
	for _, p := range list {
		for _, v := range values {
			set(&p, v)
			out = append(out, p)
		}
	}
	return out
}

// Unique returns the cells without repetitions, in the order in which they come
// first.
func Unique(cells []Cell) []Cell {
	seen := make(map[Cell]bool)
	return slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool {
		again := seen[c]
		seen[c] = true
		return again
	})
}
