package supervised

import (
	"cmp"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// fileVersion is the version of such a file.
const fileVersion = 1

// The sections of a model.
const (
	aboutSection       = "about"       // JSON: About
	factsSection       = "facts"       // JSON: modelFacts
	mapSection         = "map"         // JSON: mapFacts
	meanSection        = "map-mean"    // float64, absent for none
	scaleSection       = "map-scale"   // float64, absent for none
	matrixSection      = "map-matrix"  // float64, absent for none, row by row
	xSection           = "x"           // float32, row by row
	zSection           = "z"           // float32, absent where it is X, or where there is none
	certificateSection = "certificate" // float32, absent where all rows have one bound
	labelsSection      = "labels"      // int32, a label for each row, -1 for none; absent in files of earlier versions
	namesSection       = "class-names" // JSON: the names of labels 0, 1 and so on; absent where labels are numbers
)

// modelFacts is a Model in a file, its numbers apart.
type modelFacts struct {
	Rows       int           `json:"rows"`
	Columns    int           `json:"columns"` // of X
	Recipe     string        `json:"recipe"`
	Graph      *graphFacts   `json:"graph,omitempty"`
	Trace      []recordFacts `json:"trace,omitempty"`
	Held       *heldFacts    `json:"held_out,omitempty"`
	ChoiceTime time.Duration `json:"choice_ns"`
	MapTime    time.Duration `json:"map_ns"`
	StepsTime  time.Duration `json:"steps_ns"`
}

// mapFacts is a Map in a file, its numbers apart.
type mapFacts struct {
	Dim        int  `json:"dim"`
	Columns    int  `json:"columns"`
	Root       bool `json:"root,omitempty"`
	UnitRows   bool `json:"unit_rows,omitempty"`
	UnitImages bool `json:"unit_images,omitempty"`

	ColumnNames []string `json:"column_names,omitempty"`
}

type recallFacts struct {
	At1 jsonform.Exact `json:"r_at_1"`
	At8 jsonform.Exact `json:"r_at_8"`
	P8  jsonform.Exact `json:"p_at_8"`
	MAP jsonform.Exact `json:"map_at_100,omitempty"`
}

func factsOfRecall(r Recall) recallFacts {
	return recallFacts{jsonform.Exact(r.At1), jsonform.Exact(r.At8), jsonform.Exact(r.P8), jsonform.Exact(r.MAP)}
}

func (r recallFacts) recall() Recall {
	return Recall{At1: float64(r.At1), At8: float64(r.At8), P8: float64(r.P8), MAP: float64(r.MAP)}
}

type trialFacts struct {
	Recipe string `json:"recipe"`
	recallFacts
}

type heldFacts struct {
	Goal     string         `json:"goal"`
	Rows     int            `json:"rows"`
	Raw      recallFacts    `json:"raw"`
	Scaled   recallFacts    `json:"scaled"`
	Chosen   recallFacts    `json:"result"`
	Error    jsonform.Exact `json:"lead_standard_error"`
	Best     []trialFacts   `json:"best,omitempty"`
	Tried    int            `json:"recipes_tried"`
	Hub      int            `json:"hub"`
	HubShare jsonform.Exact `json:"hub_share"`
}

func factsOfHeld(h *Held) *heldFacts {
	if h == nil {
		return nil
	}
	out := &heldFacts{
		Goal: h.Goal.String(), Rows: h.Rows, Raw: factsOfRecall(h.Raw), Scaled: factsOfRecall(h.Scaled), Chosen: factsOfRecall(h.Chosen),
		Error: jsonform.Exact(h.Error), Tried: h.Tried, Hub: h.Hub, HubShare: jsonform.Exact(h.HubShare),
	}
	for _, t := range h.Best {
		out.Best = append(out.Best, trialFacts{t.Recipe.String(), factsOfRecall(t.Recall)})
	}
	return out
}

// held returns what was measured. Errors: those of ParseGoal and ParseRecipe.
func (h *heldFacts) held() (*Held, error) {
	if h == nil {
		return nil, nil
	}
	goal, err := ParseGoal(cmp.Or(h.Goal, GoalR1.String())) // older files have none
	if err != nil {
		return nil, err
	}
	out := &Held{
		Goal: goal, Rows: h.Rows, Raw: h.Raw.recall(), Scaled: h.Scaled.recall(), Chosen: h.Chosen.recall(),
		Error: float64(h.Error), Tried: h.Tried, Hub: h.Hub, HubShare: float64(h.HubShare),
	}
	for _, t := range h.Best {
		r, err := ParseRecipe(t.Recipe)
		if err != nil {
			return nil, err
		}
		out.Best = append(out.Best, Trial{r, t.recall()})
	}
	return out, nil
}

type recordFacts struct {
	Step      int            `json:"step"`
	Objective jsonform.Exact `json:"objective"`
	Scale     jsonform.Exact `json:"scale"`
	Change    jsonform.Exact `json:"change"`
}

func factsOfTrace(trace []iterate.Record) (out []recordFacts) {
	for _, r := range trace {
		out = append(out, recordFacts{r.Step, jsonform.Exact(r.Objective), jsonform.Exact(r.Scale), jsonform.Exact(r.Change)})
	}
	return out
}

func traceOf(facts []recordFacts) (out []iterate.Record) {
	for _, r := range facts {
		out = append(out, iterate.Record{Step: r.Step, Objective: float64(r.Objective), Scale: float64(r.Scale), Change: float64(r.Change)})
	}
	return out
}

// graphFacts is a graph in a file, the rows of its certificate and what it was expected to
// cost apart.
type graphFacts struct {
	Operator       string         `json:"operator"`
	Gamma          jsonform.Exact `json:"gamma"`
	Neighbours     int            `json:"neighbours,omitempty"`
	Radius         jsonform.Exact `json:"radius"`
	MeanNeighbours jsonform.Exact `json:"mean_neighbours"`
	MeanDegree     jsonform.Exact `json:"mean_degree"`
	Kind           kernel.Kind    `json:"certificate"`
	EntryRel       jsonform.Exact `json:"entry_relative"`
	EntryAbs       jsonform.Exact `json:"entry_absolute"`
	RowMax         jsonform.Exact `json:"row_max"`
	RowP99         jsonform.Exact `json:"row_p99"`
	Rounding       jsonform.Exact `json:"rounding"`
	Isolated       int            `json:"isolated"`
	Weights        int64          `json:"weights,omitempty"`
	ResidentBytes  int64          `json:"resident_bytes"`
	BuildTime      time.Duration  `json:"build_ns"`
	StepTime       time.Duration  `json:"step_ns"`
}

func factsOfGraph(g *iterate.Graph) *graphFacts {
	if g == nil {
		return nil
	}
	c := &g.Certificate
	return &graphFacts{
		Operator: g.Operator, Gamma: jsonform.Exact(g.Bandwidth.Gamma()), Neighbours: g.Neighbours, Radius: jsonform.Exact(g.Radius),
		MeanNeighbours: jsonform.Exact(g.MeanNeighbours), MeanDegree: jsonform.Exact(g.MeanDegree),
		Kind: c.Kind, EntryRel: jsonform.Exact(c.EntryRel), EntryAbs: jsonform.Exact(c.EntryAbs), RowMax: jsonform.Exact(c.RowMax),
		RowP99: jsonform.Exact(c.RowP99), Rounding: jsonform.Exact(c.Rounding), Isolated: c.Isolated,
		Weights: g.Cost.NNZ, ResidentBytes: g.Cost.ResidentBytes, BuildTime: g.BuildTime, StepTime: g.StepTime,
	}
}

// graph returns the graph with the rows of its certificate.
func (g *graphFacts) graph(rows []float32) *iterate.Graph {
	if g == nil {
		return nil
	}
	return &iterate.Graph{
		Operator: g.Operator, Bandwidth: kernel.Gamma(float64(g.Gamma)), Neighbours: g.Neighbours, Radius: float64(g.Radius),
		MeanNeighbours: float64(g.MeanNeighbours), MeanDegree: float64(g.MeanDegree),
		Certificate: kernel.Certificate{
			Kind: g.Kind, EntryRel: float64(g.EntryRel), EntryAbs: float64(g.EntryAbs), RowMax: float64(g.RowMax),
			RowP99: float64(g.RowP99), Rounding: float64(g.Rounding), Isolated: g.Isolated, Row: rows,
		},
		Cost:      kernel.Cost{NNZ: g.Weights, ResidentBytes: g.ResidentBytes},
		BuildTime: g.BuildTime, StepTime: g.StepTime,
	}
}
