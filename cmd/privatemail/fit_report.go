package main

import (
	"fmt"
	"io"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/margin"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// recallReport is how often rows held out find their class.
type recallReport struct {
	At1 float64 `json:"r_at_1"`
	At8 float64 `json:"r_at_8"`
}

// heldReport is what -json says about rows held out.
type heldReport struct {
	Rows   int          `json:"rows"`
	Raw    recallReport `json:"raw"`
	Scaled recallReport `json:"scaled"`
	Result recallReport `json:"result"`
	Error  jsonNumber   `json:"lead_standard_error"`
	Tried  int          `json:"recipes_tried"`
}

func reportHeld(h *supervised.Held) *heldReport {
	if h == nil {
		return nil
	}
	return &heldReport{h.Rows, recallReport(h.Raw), recallReport(h.Scaled), recallReport(h.Chosen), jsonNumber(h.Error), h.Tried}
}

// fitReport is the object of fit -json.
type fitReport struct {
	N       int          `json:"n"`
	D       int          `json:"d"`
	K       int          `json:"k"`
	Recipe  string       `json:"recipe"`
	HeldOut *heldReport  `json:"held_out,omitempty"`
	Graph   *graphReport `json:"graph,omitempty"`
	Trace   []stepReport `json:"trace,omitempty"`
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

func (f *fitFlags) report(fit *supervised.Model, all time.Duration) *fitReport {
	r := &fitReport{
		N: f.rows, D: f.columns, K: fit.X.Cols, Recipe: fit.Recipe.String(), HeldOut: reportHeld(fit.Held), Trace: reportTrace(fit.Trace),
		Out: f.out, Model: f.modelOut, Queries: f.placed, QueriesOut: f.queriesOut, MapOut: f.mapOut, Names: f.names, Plot: f.plot.file, Diagnosis: f.diagnosis.report,
	}
	s := &r.Seconds
	s.Choice, s.Map, s.All = fit.ChoiceTime.Seconds(), fit.MapTime.Seconds(), all.Seconds()
	if fit.Graph != nil {
		g := reportGraph(fit.Graph)
		r.Graph, s.Steps = &g, fit.Graph.StepTime.Seconds()
		s.Graph = fit.StepsTime.Seconds() - s.Steps // with its bandwidth and checks
	}
	s.Diagnosis = f.diagnosis.took.Seconds()
	s.Files = s.All - s.Choice - s.Map - s.Graph - s.Steps - s.Diagnosis
	return r
}

func (f *fitFlags) show(e *cli.Env, fit *supervised.Model, all time.Duration) error {
	r := f.report(fit, all)
	if e.JSON {
		return e.Object(r)
	}
	writeHeld(e.Stdout, fit)
	t := facts(e.Stdout)
	fmt.Fprintf(t, "recipe\t%s\n", r.Recipe)
	t.Flush()
	if fit.Graph != nil {
		writeGraph(e, f.rows, fit.Graph, fmt.Sprintf("-degree %g", fit.Recipe.Neighbours))
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
	writeNamesFact(t, f.names)
	f.plot.show(t)
	return t.Flush()
}

// writeHeld prints the table of rows held out, and what follows from it.
func writeHeld(w io.Writer, fit *supervised.Model) {
	h := fit.Held
	if h == nil {
		return
	}
	t := facts(w)
	fmt.Fprintf(t, "held out\tR@1\tR@8\t%d rows\n", h.Rows)
	fmt.Fprintf(t, "raw\t%.3f\t%.3f\trows as they are\n", h.Raw.At1, h.Raw.At8)
	fmt.Fprintf(t, "scaled\t%.3f\t%.3f\tcolumns of equal spread\n", h.Scaled.At1, h.Scaled.At8)
	fmt.Fprintf(t, "result\t%.3f\t%.3f\t%s\n", h.Chosen.At1, h.Chosen.At8, verdict(fit))
	t.Flush()
}

// verdict says whether the recipe helps.
func verdict(fit *supervised.Model) string {
	h := fit.Held
	best, name := h.Raw.At1, "raw"
	if h.Scaled.At1 > best {
		best, name = h.Scaled.At1, "scaled"
	}
	lead := h.Chosen.At1 - best
	switch {
	case fit.Recipe == supervised.Raw() && h.Tried == 0 && name == "raw":
		return "rows are left as they are"
	case fit.Recipe == supervised.Raw() && h.Scaled.At1 < h.Raw.At1:
		return "raw is better here: rows are left as they are"
	case fit.Recipe == supervised.Raw() && h.Tried > 0:
		return "nothing is clearly better than raw here: rows are left as they are"
	case fit.Recipe == supervised.Scaled() && name == "scaled":
		return "scaled is better here: nothing else is done"
	case lead < 0:
		return name + " is better here"
	case lead <= 2*h.Error:
		return fmt.Sprintf("as good as %s, within twice the standard error of %.3f", name, h.Error)
	}
	return fmt.Sprintf("%+.3f over %s, standard error %.3f", lead, name, h.Error)
}

// note tells what the user should know beside the result.
func (f *fitFlags) note(e *cli.Env, fit *supervised.Model) {
	if f.nowhere > 0 {
		e.Note("%d queries are at the mean of FEATURES, which has no direction: their rows are zeros", f.nowhere)
	}
	if fit.Held == nil && f.measure {
		e.Note("nothing was measured: too few rows share their labels, 20 labelled rows at least are wanted, or parts of the rows do not allow the recipe")
	}
	if fit.Graph != nil {
		noteDegree(e, fit.Graph, min(fit.Recipe.Neighbours, float64(f.rows-1)), "")
	}
}
