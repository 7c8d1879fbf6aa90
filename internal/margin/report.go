package margin

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
)

// A Report is what the geometry of an embedding promises.
type Report struct {
	// Rows and Columns are those of the embedding; rows without a label are left out.
	Rows, Columns int
	// Space says in which space distances of rows are taken, "" for that of the rows as given.
	Space string
	// Gamma is the least distance of places of different classes, and Gaps has quantiles of
	// the distance of a row to the nearest place of another class: exact, of all rows.
	Gamma float64
	Gaps  []Quantile
	// Off is the largest distance of a place from the image of its row, rounding included: 0
	// where the interpolation goes through all places.
	Off float64
	// Lipschitz is the Lipschitz constant of the interpolation, or a bound of it; infinite where
	// there is none. With Floor above 0 it holds where images have at least this norm
	// before they are divided by it, as those of all rows here have.
	Lipschitz, Floor float64
	// Neighbours is that of the interpolation.
	Neighbours int
	// Scales compares both sides of the condition at some radii.
	Scales []Scale
	// ScalesRows is the number of rows whose nearest row of their class gave the radii. Where these
	// are not all rows, the share that a radius is meant for may be off by ScalesError, with the
	// confidence of the report.
	ScalesRows  int
	ScalesError float64
	// ExactSpread says that A_delta was measured on all pairs; otherwise it is a bound.
	ExactSpread bool
	// Confidence is that of the masses of all classes together.
	Confidence float64
	// Classes has the promise for each class.
	Classes []Class
	// Theorem and Direct are the least accuracies that follow from the two arguments, if classes
	// have the shares that they have here; LeastTheorem and LeastDirect are those of the worst
	// class, which hold whatever the shares are.
	Theorem, LeastTheorem, Direct, LeastDirect float64
	// Nothing says why the theorem promises nothing for any class; empty where it promises something.
	Nothing Reason
	// NothingDirect is the same for the direct argument.
	NothingDirect Reason
}

// A Scale is the condition of the theorem at one radius, without epsilon: L delta + A_delta, and what places
// are off their images, must be below gamma/2.
type Scale struct {
	Share  float64 // of the rows that have a row of their class within delta
	Delta  float64
	Carry  float64 // L delta, or what stands for it
	Spread float64 // A_delta over all classes
}

// A Class is what is promised for the rows of one class.
type Class struct {
	Label int32
	Rows  int
	// Gamma is the least distance of a place of the class from one of another class, and
	// Apart the same for rows; 0 where it is not needed.
	Gamma, Apart float64
	// Off is the largest distance of a place of the class from the image of its row.
	Off float64
	// Unseen is the share of the class for which masses say nothing.
	Unseen float64
	// Theorem and Direct are the best promises found; without any, they are zero.
	Theorem, Direct Promise

	met    bool // the condition of the theorem, at some radius
	reason Reason
	other  Reason // of Direct
}

// A Promise is a bound of the accuracy with the numbers that give it.
type Promise struct {
	Accuracy   float64
	Delta, Eta float64
	Carry      float64 // L delta
	Spread     float64 // A_delta
	Epsilon    float64 // 0 for the direct argument
	Q          int     // rows that must be in a ball
}

// A Reason is why nothing is promised.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	TouchingClasses Reason = "gamma is 0: rows of different classes have the same place"
	NoConstant      Reason = "the interpolation has no Lipschitz constant"
	SingleRows      Reason = "classes have a single row, so the mass of a ball is not known"
	MovedPlaces     Reason = "gamma/2 is not above the distance between places and the images of their rows, which steps have moved apart"
	NeighboursMix   Reason = "rows of other classes are too near for all neighbours to be of one class"
	WideBalls       Reason = "gamma/2 is not above L delta + A_delta, even at the least delta at which balls hold another row of their class"
	WideBallsDirect Reason = "gamma/2 is not above L delta, even at the least delta at which balls hold another row of their class"
	FewRows         Reason = "the condition on gamma holds, but with too little room, or for too few rows: the probability that it leaves is 0"
)

// reasons finds out why nothing is promised for a class.
func (d *diagnosis) reasons(c *Class, least, spread float64) {
	half := c.Gamma / 2
	switch {
	case c.Gamma == 0:
		c.reason, c.other = TouchingClasses, TouchingClasses
	case c.Rows < 2:
		c.reason, c.other = SingleRows, SingleRows
	case math.IsInf(d.lipschitz, 1):
		c.reason, c.other = NoConstant, NoConstant
	case !(c.Off < half):
		c.reason, c.other = MovedPlaces, MovedPlaces
	default:
		c.reason, c.other = WideBalls, WideBallsDirect
		if c.met {
			c.reason = FewRows
		}
		if d.Neighbours > 0 {
			c.reason = NoConstant
			switch {
			case !(2*least < c.Apart):
				c.other = NeighboursMix
			case spread+c.Off < half:
				c.other = FewRows
			}
		}
	}
	if c.Theorem.Accuracy > 0 {
		c.reason = ""
	}
	if c.Direct.Accuracy > 0 {
		c.other = ""
	}
}

// nothing returns the reason that most rows have, "" where something is promised for a class.
func nothing(classes []Class, of func(*Class) Reason) Reason {
	rows := make(map[Reason]int)
	for i := range classes {
		rows[of(&classes[i])] += classes[i].Rows
	}
	if rows[""] > 0 {
		return ""
	}
	var most Reason
	for _, r := range []Reason{TouchingClasses, NoConstant, SingleRows, MovedPlaces, NeighboursMix, WideBalls, WideBallsDirect, FewRows} {
		if rows[r] > rows[most] {
			most = r
		}
	}
	return most
}

// Sentence says in words what is promised.
func (r *Report) Sentence() string {
	var b strings.Builder
	confidence := fmt.Sprintf("with a confidence of %.4g %%", 100*r.Confidence)
	switch {
	case r.Nothing != "":
		fmt.Fprintf(&b, "The theorem says nothing here: %s.", r.Nothing)
	default:
		fmt.Fprintf(&b, "By the theorem the nearest place is right for %.3f of new rows at least, %s.", r.Theorem, confidence)
	}
	switch {
	case r.NothingDirect == r.Nothing:
		if r.Nothing != "" {
			b.WriteString(" Neither does the direct argument.")
			break
		}
		fallthrough
	case r.NothingDirect == "":
		fmt.Fprintf(&b, " The direct argument gives %.3f", r.Direct)
		if r.Nothing != "" {
			fmt.Fprintf(&b, ", %s", confidence)
		}
		b.WriteString(".")
	default:
		fmt.Fprintf(&b, " Nor does the direct argument: %s.", r.NothingDirect)
	}
	return b.String()
}

// MarshalJSON writes distances that are infinite as null.
func (r *Report) MarshalJSON() ([]byte, error) {
	type number = jsonform.Number
	type promise struct {
		Accuracy number `json:"accuracy"`
		Delta    number `json:"delta"`
		Eta      number `json:"eta"`
		Carry    number `json:"l_delta"`
		Spread   number `json:"a_delta"`
		Epsilon  number `json:"epsilon,omitempty"`
		Q        int    `json:"q"`
	}
	type class struct {
		Label   int32    `json:"label"`
		Rows    int      `json:"rows"`
		Gamma   number   `json:"gamma"`
		Off     number   `json:"off"`
		Unseen  number   `json:"unseen"`
		Theorem *promise `json:"theorem,omitempty"`
		Direct  *promise `json:"direct,omitempty"`
	}
	type scale struct {
		Share  number `json:"share"`
		Delta  number `json:"delta"`
		Carry  number `json:"l_delta"`
		Spread number `json:"a_delta"`
	}
	promised := func(p Promise) *promise {
		if p.Accuracy == 0 {
			return nil
		}
		return &promise{number(p.Accuracy), number(p.Delta), number(p.Eta), number(p.Carry), number(p.Spread), number(p.Epsilon), p.Q}
	}
	out := struct {
		Rows          int        `json:"rows"`
		Columns       int        `json:"columns"`
		Space         string     `json:"space,omitempty"`
		Gamma         number     `json:"gamma"`
		Gaps          []Quantile `json:"gaps"`
		Off           number     `json:"off"`
		Lipschitz     number     `json:"lipschitz"`
		Floor         number     `json:"floor,omitempty"`
		Neighbours    int        `json:"neighbours,omitempty"`
		Scales        []scale    `json:"scales"`
		ScalesRows    int        `json:"scales_rows"`
		ScalesError   number     `json:"scales_error"`
		ExactSpread   bool       `json:"a_delta_exact"`
		Confidence    number     `json:"confidence"`
		Theorem       number     `json:"theorem"`
		LeastTheorem  number     `json:"theorem_least"`
		Nothing       Reason     `json:"theorem_nothing,omitempty"`
		Direct        number     `json:"direct"`
		LeastDirect   number     `json:"direct_least"`
		NothingDirect Reason     `json:"direct_nothing,omitempty"`
		Sentence      string     `json:"sentence"`
		Classes       []class    `json:"classes"`
	}{
		r.Rows, r.Columns, r.Space, number(r.Gamma), r.Gaps, number(r.Off), number(r.Lipschitz), number(r.Floor), r.Neighbours, []scale{},
		r.ScalesRows, number(r.ScalesError), r.ExactSpread, number(r.Confidence),
		number(r.Theorem), number(r.LeastTheorem), r.Nothing, number(r.Direct), number(r.LeastDirect), r.NothingDirect, r.Sentence(), nil,
	}
	for _, s := range r.Scales {
		out.Scales = append(out.Scales, scale{number(s.Share), number(s.Delta), number(s.Carry), number(s.Spread)})
	}
	for _, c := range r.Classes {
		out.Classes = append(out.Classes, class{c.Label, c.Rows, number(c.Gamma), number(c.Off), number(c.Unseen), promised(c.Theorem), promised(c.Direct)})
	}
	return json.Marshal(out)
}
