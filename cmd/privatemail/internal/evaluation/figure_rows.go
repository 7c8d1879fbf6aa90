package evaluation

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// titled is a row of a table: a title, and a figure for each column, empty where there
// is none.
type titled struct {
	title   string
	figures []string
}

// filled reports whether a row has any figure.
func (r titled) filled() bool {
	return slices.ContainsFunc(r.figures, func(s string) bool { return s != "" })
}

// appendFilled appends a row that has a figure.
func appendFilled(rows []titled, r titled) []titled {
	if r.filled() {
		return append(rows, r)
	}
	return rows
}

// titleWidth is the width of the column of titles.
func titleWidth(corner string, rows []titled) int {
	width := len(corner)
	for _, r := range rows {
		width = max(width, utf8.RuneCountInString(r.title))
	}
	return width
}

// figureWidth is the width of a column of figures, with the space before it.
const figureWidth = 6

// writeFigures prints a table with a column for each metric that a row has besides the
// first, which is that of random rows.
func writeFigures(w io.Writer, corner string, metrics []evaluate.Metric, rows []titled) {
	title := titleWidth(corner, rows)
	lines := make([]string, len(rows)+1)
	lines[0] = fmt.Sprintf("\n%-*s", title, corner)
	for i, r := range rows {
		lines[i+1] = fmt.Sprintf("%-*s", title, r.title)
	}
	for j, metric := range metrics {
		if !slices.ContainsFunc(rows[1:], func(r titled) bool { return r.figures[j] != "" }) {
			continue
		}
		width := max(figureWidth, len(metric)+2)
		lines[0] += fmt.Sprintf("%*s", width, metric)
		for i, r := range rows {
			lines[i+1] += fmt.Sprintf("%*s", width, r.figures[j])
		}
	}
	for _, line := range lines {
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// writeOverEpsilon prints a table whose rows have a figure for each head under each
// epsilon, or several tables below each other where one would be too wide.
func writeOverEpsilon(w io.Writer, corner string, epsilons []float64, rows []titled, heads ...string) {
	title, group := titleWidth(corner, rows), figureWidth*max(2, len(heads)) // as wide for one head as for two
	labels := make([]string, len(epsilons))
	for i, e := range epsilons {
		labels[i] = fmt.Sprintf("epsilon %g", e)
		group = max(group, len(labels[i])+1)
	}
	print := func(title string, width int, groups []string) {
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%-*s%s", width, title, strings.Join(groups, "")), " "))
	}
	for lo, hi := 0, 0; lo < len(epsilons); lo = hi {
		hi = min(len(epsilons), lo+max(1, (text.LineWidth-title)/group))
		fmt.Fprintln(w)
		above, below := make([]string, hi-lo), make([]string, hi-lo)
		for i := range above {
			above[i], below[i] = fmt.Sprintf("%*s", group, labels[lo+i]), side(group, heads)
		}
		print(corner, title, above)
		if len(heads) > 1 {
			print("", title, below)
		}
		for _, r := range rows {
			part := titled{r.title, r.figures[lo*len(heads) : hi*len(heads)]}
			if !part.filled() {
				continue
			}
			for i := range below {
				below[i] = side(group, part.figures[i*len(heads):(i+1)*len(heads)])
			}
			print(r.title, title, below)
		}
	}
}

// side puts the figures of one epsilon side by side, at the right of their group.
func side(group int, figures []string) (text string) {
	for _, f := range figures {
		text += fmt.Sprintf("%*s", figureWidth, f)
	}
	return fmt.Sprintf("%*s", group, text)
}
