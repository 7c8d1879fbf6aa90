package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html"
	"slices"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/plot"
)

//go:embed page.css
var pageStyle string

// page writes the report as one HTML file. The command is the one that writes it.
func (r *report) page(command string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"+
		"<title>PrivateMail benchmarks</title>\n<style>\n%s</style></head><body>\n<h1>PrivateMail benchmarks</h1>\n", pageStyle+plot.Style(false))
	parts, names := r.families()
	writeHead(&b, parts, names, command)
	for i, part := range parts {
		sections := part.sections()
		fmt.Fprintf(&b, "<h2>%s</h2>\n", html.EscapeString(names[i]))
		writeContents(&b, sections, i)
		for j, s := range sections {
			s.writeHTML(&b, sectionID(i, j))
		}
	}
	if r.notes != "" {
		b.WriteString(notesHTML(r.notes))
	}
	b.WriteString("</body></html>\n")
	return b.String()
}

// writeHead writes what a reader has to know first: which processors, at which level, by
// which commands, and what the words mean.
func writeHead(b *strings.Builder, parts []*report, names []string, command string) {
	head := section{head: []string{"processor", "cores", "level", "system", "Go", "recorded", "commit"}}
	var commands []string
	for i, part := range parts {
		head.rows = append(head.rows, part.headRow(names[i]))
		for _, c := range part.allCommands() {
			if !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	head.writeTable(b)
	fmt.Fprintf(b, "<p>%s</p>\n", inlineHTML(reportTerms))
	missing := ""
	if slices.ContainsFunc(parts, (*report).lacksCommands) {
		missing = "<p>Some recordings do not hold their command; the one that makes such a recording stands for it.</p>\n"
	}
	fmt.Fprintf(b, "<details open><summary>The commands that were run</summary>\n<pre>%s</pre>\n%s<p>This page: <code>%s</code></p></details>\n",
		html.EscapeString(strings.Join(commands, "\n")), missing, html.EscapeString(command))
}

// headRow says of one machine what the table at the top has columns for. What the
// recordings of a machine do not agree on is listed.
func (r *report) headRow(name string) []string {
	var cores, levels, systems, versions, days, commits []string
	add := func(list *[]string, value string) {
		if value != "" && !slices.Contains(*list, value) {
			*list = append(*list, value)
		}
	}
	note := func(m *record.Machine, level, time, commit string) {
		if m != nil {
			level = cmp.Or(m.SettingWords(), level)
		}
		add(&levels, level)
		day, _, _ := strings.Cut(time, "T")
		add(&days, day)
		add(&commits, commit[:min(12, len(commit))])
		if m != nil {
			add(&cores, fmt.Sprint(m.Cores))
			add(&systems, m.GOOS+"/"+m.GOARCH)
			add(&versions, m.Go)
		}
	}
	for _, x := range r.records {
		note(x.Machine, record.SettingOf(x.Level, x.Machine), x.Time, x.Commit)
	}
	for _, x := range r.ratios {
		note(x.Machine, record.SettingOf(x.Level, x.Machine), x.Time, x.Commit)
	}
	slices.Sort(days)
	out := []string{name}
	for _, list := range [][]string{cores, levels, systems, versions, days, commits} {
		out = append(out, strings.Join(list, ", "))
	}
	return out
}

func sectionID(machine, section int) string { return fmt.Sprintf("m%d-s%d", machine+1, section+1) }

// writeContents links to the sections of a machine.
func writeContents(b *strings.Builder, sections []section, machine int) {
	b.WriteString("<nav>")
	for j, s := range sections {
		if !s.below {
			fmt.Fprintf(b, `<a href="#%s">%s</a> `, sectionID(machine, j), html.EscapeString(s.title))
		}
	}
	b.WriteString("</nav>\n")
}

func (s *section) writeHTML(b *strings.Builder, id string) {
	heading := map[bool]string{false: "h3", true: "h4"}[s.below]
	fmt.Fprintf(b, "<%s id=\"%s\">%s</%s>\n", heading, id, html.EscapeString(s.title), heading)
	if s.about != "" {
		fmt.Fprintf(b, "<p>%s</p>\n", inlineHTML(s.about))
	}
	if s.plot != nil {
		fmt.Fprintf(b, "<figure>%s</figure>\n", s.plot.Element())
	}
	if len(s.rows) > 0 {
		s.writeTable(b)
	}
}

// writeTable writes a table. A column is to the right when all of its cells begin as
// numbers do, except for days and commits.
func (s *section) writeTable(b *strings.Builder) {
	right := make([]bool, len(s.head))
	for at := range right {
		right[at] = s.head[at] != "recorded" && s.head[at] != "commit" && !slices.ContainsFunc(s.rows, func(row []string) bool { return !startsAsNumber(row[at]) })
	}
	cell := func(tag string, at int, text string) {
		class := ""
		switch {
		case right[at]:
			class = ` class="number"`
		case len(text) <= shortCell:
			class = ` class="short"`
		}
		fmt.Fprintf(b, "<%s%s>%s</%s>", tag, class, text, tag)
	}
	b.WriteString("<div class=\"wide\"><table>\n<thead><tr>")
	for at, h := range s.head {
		cell("th", at, html.EscapeString(h))
	}
	b.WriteString("</tr></thead>\n<tbody>\n")
	for _, row := range s.rows {
		b.WriteString("<tr>")
		for at, v := range row {
			text := html.EscapeString(v)
			if s.head[at] == "case" || s.head[at] == "at" {
				text = breakable(text)
			}
			cell("td", at, text)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</tbody></table></div>\n")
}

// shortCell is the length of a text up to which it stays in one line.
const shortCell = 20

// breakable lets the name of a case go on in the next line behind its slashes.
func breakable(name string) string { return strings.ReplaceAll(name, "/", "/<wbr>") }

// startsAsNumber reports whether a cell is empty or begins with a number.
func startsAsNumber(cell string) bool {
	cell = strings.TrimPrefix(cell, "-")
	return cell == "" || cell[0] >= '0' && cell[0] <= '9'
}
