package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

// A Report is what a page is made of.
type Report struct {
	Title string
	// Command is how to make the page again.
	Command string
	// Modes explain the records, in the order of tables.
	Modes   []evaluate.Mode
	Records []evaluate.Record
	// Groups are rows of pictures.
	Groups []Group
	// Footer stands at the end, such as where data come from.
	Footer string
}

// A Group holds pictures that belong together.
type Group struct {
	Title, Text string
	Pictures    []*plot.Scatter // of one panel each, with labels
}

//go:embed page.html
var pageText string

//go:embed style.css
var styleText string

var page = template.Must(template.New("page").Parse(pageText))

// WriteHTML writes the page. The error is plot.ErrPlot for a picture that cannot be drawn, and what
// w returns.
func (r *Report) WriteHTML(w io.Writer) error {
	v, err := r.view()
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if err := page.Execute(w, v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// view is what the template sees.
type view struct {
	Title, Command, Intervals, Footer string
	Ceiling, Fetching, Assumption     string
	Words                             []Word
	Style                             template.CSS
	Data                              []dataView
	Scale                             *scaleView // nil unless a mode encrypts
	Groups                            []groupView
	Modes                             []evaluate.Mode
}

type groupView struct {
	Title, Text string
	Pictures    []figure
}

func (r *Report) view() (*view, error) {
	v := &view{
		Title: r.Title, Command: r.Command, Footer: r.Footer, Style: template.CSS(styleText + plot.Style(true)),
		Ceiling: CeilingNote, Fetching: FetchingNote, Assumption: AssumptionNote, Words: r.Words(),
		Intervals: fmt.Sprintf("Intervals have a coverage of %g %%: Student's over the seeds; for a single seed Wilson's over the queries for recalls, and none for the other figures.", 100*evaluate.Coverage),
	}
	summaries := evaluate.Summarize(r.Records)
	used := make(map[string]bool)
	for _, s := range summaries {
		used[s.Mode] = true
	}
	for _, m := range r.Modes {
		if used[m.Name] {
			v.Modes = append(v.Modes, m)
		}
	}
	var sets []*dataset
	for _, name := range dataNames(summaries) {
		d := newDataset(name, v.Modes, summaries)
		sets = append(sets, d)
		v.Data = append(v.Data, d.view())
	}
	v.Scale = scaleOf(sets)
	for _, g := range r.Groups {
		out := groupView{Title: g.Title, Text: g.Text}
		for _, p := range g.Pictures {
			svg, err := p.Element()
			if err != nil {
				return nil, fmt.Errorf("picture %q: %w", p.Title, err)
			}
			out.Pictures = append(out.Pictures, figure{Title: p.Title, Caption: p.Caption, SVG: template.HTML(svg)})
		}
		v.Groups = append(v.Groups, out)
	}
	return v, nil
}

func dataNames(summaries []evaluate.Summary) (names []string) {
	seen := make(map[string]bool)
	for _, s := range summaries {
		if !seen[s.Data] {
			seen[s.Data] = true
			names = append(names, s.Data)
		}
	}
	return names
}
