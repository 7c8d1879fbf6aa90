package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// WriteCSV writes a line for each record. Figures that do not apply are empty. The last
// field says why a mode was not available, and is empty otherwise.
func WriteCSV(w io.Writer, records []evaluate.Record) error {
	c := csv.NewWriter(w)
	head := []string{"data", "mode", "seed", "epsilon", "delta", "k", "alpha", "sigma", "steps", "queries", "classes", "gallery"}
	for _, m := range evaluate.Metrics() {
		head = append(head, string(m))
	}
	head = append(head, "download rows", "base rows", "bytes a query", "bytes once", "int8 bytes a query", "int8 bytes once", "all rows bytes once", "sealed bytes up", "sealed bytes down", "sealed bytes once", "sealed server seconds", "seconds", "key", "unavailable")
	if err := c.Write(head); err != nil {
		return fmt.Errorf("report: csv: %w", err)
	}
	for _, r := range records {
		line := []string{
			r.Data, r.Mode, strconv.FormatUint(r.Seed, 10), number(r.Epsilon), number(r.Delta), strconv.Itoa(r.Dim),
			number(r.Alpha), number(r.Sigma), strconv.Itoa(r.Steps), strconv.Itoa(r.Asked), strconv.Itoa(r.Classes), strconv.Itoa(r.Gallery),
		}
		for _, m := range evaluate.Metrics() {
			text := ""
			if v, ok := r.Figures[m]; ok {
				text = number(v)
			}
			line = append(line, text)
		}
		v := r.Volume
		line = append(line, number(r.Download), number(r.Base), number(v.Float32.Query), number(v.Float32.Once),
			number(v.Int8.Query), number(v.Int8.Once), number(v.AllRows),
			number(v.Sealed.Up), number(v.Sealed.Down), number(v.Sealed.Once), number(v.Sealed.Seconds), strconv.FormatFloat(r.Seconds, 'f', 3, 64), r.Key, r.Unavailable)
		if err := c.Write(line); err != nil {
			return fmt.Errorf("report: csv: %w", err)
		}
	}
	c.Flush()
	if err := c.Error(); err != nil {
		return fmt.Errorf("report: csv: %w", err)
	}
	return nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// A Line is a configuration with the intervals of its figures, for JSON.
type Line struct {
	Data  string `json:"data"`
	Mode  string `json:"mode"`
	Title string `json:"title"`
	evaluate.Params
	Protects string            `json:"protects"`
	Assumes  string            `json:"assumes,omitempty"`
	Warning  string            `json:"warning,omitempty"`
	Seeds    int               `json:"seeds"`
	Asked    int               `json:"queries"`
	Classes  int               `json:"classes"`
	Gallery  int               `json:"gallery"`
	Ceiling  *float64          `json:"ceiling,omitempty"` // of R@8, where it applies
	Download float64           `json:"download,omitempty"`
	Base     float64           `json:"base,omitempty"`
	Volume   evaluate.Volume   `json:"bytes,omitzero"`
	Figures  map[string]Bounds `json:"figures"`
	// Unavailable says why there are no figures; empty when there are.
	Unavailable string             `json:"unavailable,omitempty"`
	Facts       map[string]float64 `json:"facts,omitempty"`
	Note        string             `json:"note,omitempty"` // what the facts mean, of the first seed
	Seconds     float64            `json:"seconds"`
}

// Bounds is an interval as JSON has it. Low and High are nil when it has no width.
type Bounds struct {
	Mean float64  `json:"mean"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// Lines returns the configurations of the report with their intervals.
func (r *Report) Lines() []Line {
	modes := make(map[string]evaluate.Mode)
	for _, m := range r.Modes {
		modes[m.Name] = m
	}
	var lines []Line
	for _, s := range evaluate.Summarize(r.Records) {
		m := modes[s.Mode]
		l := Line{
			Data: s.Data, Mode: s.Mode, Title: m.Title, Params: s.Params, Protects: m.Protects, Assumes: m.Assumes, Warning: m.Warning,
			Seeds: s.Seeds, Asked: s.Asked, Classes: s.Classes, Gallery: s.Gallery, Download: s.Download, Base: s.Base, Volume: s.Volume,
			Figures: make(map[string]Bounds), Unavailable: s.Unavailable, Facts: s.Facts, Note: s.Note, Seconds: s.Seconds,
		}
		if m.Bounded {
			v := evaluate.Ceiling(s.Classes, s.Epsilon, s.Delta)
			l.Ceiling = &v
		}
		for metric, v := range s.Figures {
			b := Bounds{Mean: v.Mean}
			if v.High > v.Low && !math.IsInf(v.Low, 0) && !math.IsInf(v.High, 0) {
				b.Low, b.High = &v.Low, &v.High
			}
			l.Figures[string(metric)] = b
		}
		lines = append(lines, l)
	}
	return lines
}

// WriteJSON writes the lines as one array.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(r.Lines()); err != nil {
		return fmt.Errorf("report: json: %w", err)
	}
	return nil
}
