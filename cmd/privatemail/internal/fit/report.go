package fit

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/jsonform"
	"github.com/seed-64e14a55/privatemail/internal/margin"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// recallReport is what rows held out find.
type recallReport struct {
	At1 float64         `json:"r_at_1"`
	At8 float64         `json:"r_at_8"`
	P8  float64         `json:"p_at_8"`
	MAP jsonform.Number `json:"map_at_100,omitempty"`
}

func reportRecall(r supervised.Recall) recallReport {
	return recallReport{r.At1, r.At8, r.P8, jsonform.Number(r.MAP)}
}

// trialReport is one of the best recipes.
type trialReport struct {
	Recipe string `json:"recipe"`
	recallReport
}

// heldReport is what -json says about rows held out.
type heldReport struct {
	Goal     string          `json:"goal"`
	Rows     int             `json:"rows"`
	Raw      recallReport    `json:"raw"`
	Scaled   recallReport    `json:"scaled"`
	Result   recallReport    `json:"result"`
	Error    jsonform.Number `json:"lead_standard_error"`
	Best     []trialReport   `json:"best,omitempty"`
	Tried    int             `json:"recipes_tried"`
	Hub      int             `json:"hub"` // its row, from 0
	HubShare float64         `json:"hub_share"`
}

func ReportHeld(h *supervised.Held) *heldReport {
	if h == nil {
		return nil
	}
	out := &heldReport{
		Goal: h.Goal.String(), Rows: h.Rows, Raw: reportRecall(h.Raw), Scaled: reportRecall(h.Scaled), Result: reportRecall(h.Chosen),
		Error: jsonform.Number(h.Error), Tried: h.Tried, Hub: h.Hub, HubShare: h.HubShare,
	}
	for _, t := range h.Best {
		out.Best = append(out.Best, trialReport{t.Recipe.String(), reportRecall(t.Recall)})
	}
	return out
}

// fitReport is the object of fit -json.
type fitReport struct {
	N       int           `json:"n"`
	D       int           `json:"d"`
	K       int           `json:"dim"`
	Recipe  string        `json:"recipe"`
	HeldOut *heldReport   `json:"held_out,omitempty"`
	Graph   *report.Graph `json:"graph,omitempty"`
	Trace   []report.Step `json:"trace,omitempty"`
	Seconds struct {
		Choice float64 `json:"choice"`
		Map    float64 `json:"map"`
		Graph  float64 `json:"graph"`
		Steps  float64 `json:"steps"`
		Files  float64 `json:"files"`
		// Diagnosis is 0 without -diagnose.
		Diagnosis float64 `json:"diagnosis,omitempty"`
		All       float64 `json:"all"`
	} `json:"seconds"`
	Out        string         `json:"out,omitempty"`
	Model      string         `json:"model,omitempty"`
	Queries    int            `json:"queries,omitempty"`
	QueriesOut string         `json:"queries_out,omitempty"`
	MapOut     string         `json:"map_out,omitempty"`
	Names      string         `json:"names,omitempty"` // the file with the names of classes
	Plot       string         `json:"plot,omitempty"`
	Diagnosis  *margin.Report `json:"diagnosis,omitempty"`
}

func (f *fitFlags) Report(fit *supervised.Model, all time.Duration) *fitReport {
	r := &fitReport{
		N: f.rows, D: f.columns, K: fit.X.Cols, Recipe: fit.Recipe.String(), HeldOut: ReportHeld(fit.Held), Trace: report.TraceOf(fit.Trace),
		Out: f.out, Model: f.modelOut, Queries: f.placed, QueriesOut: f.queriesOut, MapOut: f.mapOut, Names: f.names, Plot: f.plot.File, Diagnosis: f.diagnosis.report,
	}
	s := &r.Seconds
	s.Choice, s.Map, s.All = fit.ChoiceTime.Seconds(), fit.MapTime.Seconds(), all.Seconds()
	if fit.Graph != nil {
		g := report.GraphOf(fit.Graph)
		r.Graph, s.Steps = &g, fit.Graph.StepTime.Seconds()
		s.Graph = fit.StepsTime.Seconds() - s.Steps // with its bandwidth and checks
	}
	s.Diagnosis = f.diagnosis.took.Seconds()
	s.Files = s.All - s.Choice - s.Map - s.Graph - s.Steps - s.Diagnosis
	return r
}

func (f *fitFlags) show(e *cli.Env, fit *supervised.Model, all time.Duration) error {
	r := f.Report(fit, all)
	if e.JSON {
		return e.Object(r)
	}
	writeHeld(e.Stdout, fit)
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "recipe\t%s\n", r.Recipe)
	t.Flush()
	if fit.Graph != nil {
		report.WriteGraph(e, f.rows, fit.Graph, fmt.Sprintf("-mean-neighbours %g", fit.Recipe.Neighbours))
	}
	f.diagnosis.write(e.Stdout)
	s := &r.Seconds
	fmt.Fprintf(t, "time\t%.2f s: choice %.2f, map %.2f, graph %.2f, steps %.2f, files %.2f%s\n", s.All, s.Choice, s.Map, s.Graph, s.Steps, s.Files, f.diagnosis.time())
	if f.out != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d\n", f.out, f.rows, r.K)
	}
	if f.modelOut != "" {
		fmt.Fprintf(t, "wrote\t%s, the model: %d x %d rows and a map from %d columns\n", f.modelOut, f.rows, r.K, f.columns)
	}
	if f.queriesOut != "" {
		fmt.Fprintf(t, "wrote\t%s, %d x %d queries\n", f.queriesOut, f.placed, r.K)
	}
	if f.mapOut != "" {
		fmt.Fprintf(t, "wrote\t%s, the linear map from %d columns and a 1 to %d\n", f.mapOut, f.columns, r.K)
	}
	files.WriteNamesFact(t, f.names)
	f.plot.Show(t)
	return t.Flush()
}

// writeHeld prints the table of rows held out, and what follows from it.
func writeHeld(w io.Writer, fit *supervised.Model) {
	h := fit.Held
	if h == nil {
		return
	}
	t := report.Facts(w)
	line := func(name string, r supervised.Recall, what string) {
		more := ""
		if h.Goal == supervised.GoalMAP {
			more = fmt.Sprintf("%.3f\t", r.MAP)
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\t%s%s\n", name, r.At1, r.At8, r.P8, more, what)
	}
	more := ""
	if h.Goal == supervised.GoalMAP {
		more = "mAP\t"
	}
	fmt.Fprintf(t, "held out\tR@1\tR@8\tP@8\t%s%d rows\n", more, h.Rows)
	line("raw", h.Raw, "rows as they are")
	line("scaled", h.Scaled, "columns of equal spread")
	for at, b := range h.Best {
		line(fmt.Sprint(at+1), b.Recall, b.Recipe.String())
	}
	line("result", h.Chosen, verdict(fit))
	if given := givenUp(fit); given != "" {
		fmt.Fprintf(t, "gives up\t%s\n", given)
	}
	t.Flush()
}

// figures are what the table has, with their names; the mAP of all is 0 unless it is the goal.
var figures = []struct {
	goal supervised.Goal
	name string
}{{supervised.GoalR1, "R@1"}, {supervised.GoalR8, "R@8"}, {supervised.GoalP8, "P@8"}, {supervised.GoalMAP, "mAP"}}

// goalName is how the output calls a goal.
func goalName(g supervised.Goal) string {
	for _, f := range figures {
		if f.goal == g {
			return f.name
		}
	}
	return g.String()
}

// noticed is the least difference that is worth a word.
const noticed = 0.005

// givenUp says what the recipe loses against others of the table.
func givenUp(fit *supervised.Model) string {
	h := fit.Held
	at := slices.IndexFunc(h.Best, func(t supervised.Trial) bool { return t.Recipe == fit.Recipe })
	if at < 0 {
		return ""
	}
	others := []struct {
		name string
		supervised.Recall
	}{{"raw", h.Raw}, {"scaled", h.Scaled}}
	for i, t := range h.Best {
		others = append(others, struct {
			name string
			supervised.Recall
		}{fmt.Sprint(i + 1), t.Recall})
	}
	var lost []string
	for _, f := range figures {
		most, by := h.Best[at].At(f.goal)+noticed, ""
		for _, o := range others {
			if v := o.At(f.goal); v >= most {
				most, by = v, o.name
			}
		}
		if by != "" {
			lost = append(lost, fmt.Sprintf("%.3f of %s against %s", most-h.Best[at].At(f.goal), f.name, by))
		}
	}
	return strings.Join(lost, ", ")
}

// verdict says whether the recipe helps.
func verdict(fit *supervised.Model) string {
	h := fit.Held
	best, name := h.Raw.At(h.Goal), "raw"
	if v := h.Scaled.At(h.Goal); v > best {
		best, name = v, "scaled"
	}
	what := goalName(h.Goal)
	lead := h.Chosen.At(h.Goal) - best
	switch {
	case fit.Recipe == (supervised.Recipe{}) && name == "raw":
		return "rows are left as they are"
	case fit.Recipe == (supervised.Recipe{Standardize: true}) && name == "scaled":
		return "nothing is done but to scale columns"
	case lead < -2*h.Error:
		return fmt.Sprintf("%.3f of %s behind %s, standard error %.3f", -lead, what, name, h.Error)
	case lead <= 2*h.Error:
		return fmt.Sprintf("%s as good as that of %s, within twice the standard error of %.3f", what, name, h.Error)
	}
	return fmt.Sprintf("%+.3f of %s over %s, standard error %.3f", lead, what, name, h.Error)
}

// hubRows is how many rows held out a row has to be the nearest of to be called a hub, besides
// a tenth of them.
const hubRows = 10

// manyCopies is the share of rows with an equal one before them that is worth a word.
const manyCopies = 0.05

// note reports what the user should know besides the result.
func (f *fitFlags) note(e *cli.Env, fit *supervised.Model) {
	if f.nowhere > 0 {
		e.Note("%d queries are at the mean of FEATURES, which has no direction: their rows are zeros", f.nowhere)
	}
	if fit.Held == nil && f.measure {
		e.Note("nothing was measured: too few rows share their labels (at least 20 labelled rows are needed), or parts of the rows do not allow the recipe")
	}
	if h := fit.Held; h != nil && h.HubShare >= 0.1 && h.HubShare*float64(h.Rows) >= hubRows {
		e.Note("row %d of FEATURES is the nearest of %.0f%% of the rows held out: check that it, and rows like it, are real", h.Hub+1, 100*h.HubShare)
	}
	if share := float64(f.copies) / float64(max(f.compared, 1)); fit.Held != nil && share >= manyCopies {
		e.Note("%.0f%% of the %d rows of FEATURES that were compared equal an earlier one. A row held out finds its copies: the table is too good for rows that have none, and another recipe may be better for them; fit one row of each", 100*share, f.compared)
	}
	if f.uneven != "" {
		e.Note("%s, and the ridge of a projection is the same for all columns: with standardize or weigh in -recipe it does not depend on their units", f.uneven)
	}
	if f.zeros > 0 {
		e.Note("%d rows of FEATURES are zeros, the first of them row %d: they have no direction, and all lie in one place", f.zeros, f.firstZero+1)
	}
	if fit.Graph != nil {
		settings.NoteMeanNeighbours(e, fit.Graph, min(fit.Recipe.Neighbours, float64(f.rows-1)), "")
	}
}
