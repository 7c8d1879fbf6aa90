package evaluation

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
)

// promised prints what the distances between classes promise, of the modes whose embedding was
// diagnosed, and what that means.
func (t *studyTables) promised(w io.Writer) {
	var rows []titled
	var notes []string
	for _, m := range t.modes {
		for _, l := range t.lines {
			if l.Mode != m.Name || l.Epsilon != 0 {
				continue
			}
			r := titled{title: titleOf(m)}
			for _, c := range report.PromiseColumns {
				r.figures = append(r.figures, c.Text(l.Facts))
			}
			if rows = appendFilled(rows, r); r.filled() && l.Note != "" {
				notes = append(notes, m.Title+". "+l.Note)
			}
		}
	}
	if len(rows) == 0 {
		return
	}
	const corner, width = "classes apart", 10
	title := titleWidth(corner, rows)
	line := fmt.Sprintf("%-*s", title, corner)
	for _, c := range report.PromiseColumns {
		line += fmt.Sprintf("%*s", width, c.Head)
	}
	fmt.Fprintf(w, "\n%s\n", line)
	for _, r := range rows {
		line := fmt.Sprintf("%-*s", title, r.title)
		for _, figure := range r.figures {
			line += fmt.Sprintf("%*s", width, figure)
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	for _, note := range notes {
		fmt.Fprintln(w, "  "+strings.Join(text.Wrap(note, text.LineWidth-4), "\n    "))
	}
}
