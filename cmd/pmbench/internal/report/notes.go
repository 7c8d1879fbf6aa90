package report

import (
	"fmt"
	"html"
	"strings"
)

// notesHTML writes the notes, which are in Markdown, as a part of the page: headings,
// paragraphs, lists, tables and indented commands. Other marks stay as they are.
func notesHTML(text string) string {
	var b strings.Builder
	for _, block := range noteBlocks(text) {
		block.write(&b)
	}
	return b.String()
}

// A noteBlock is a run of lines of one kind.
type noteBlock struct {
	kind  string // "heading", "pre", "list", "table" or "p"
	lines []string
}

// kindOf says what a line is. A line that is indented a little goes on with a list.
func kindOf(line, before string) string {
	switch {
	case strings.HasPrefix(line, "#"):
		return "heading"
	case strings.HasPrefix(line, "    ") && before != "list":
		return "pre"
	case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "  ") && before == "list":
		return "list"
	case strings.HasPrefix(line, "|"):
		return "table"
	}
	return "p"
}

// noteBlocks splits notes where their kind changes, and paragraphs and headings where
// they end.
func noteBlocks(text string) (out []noteBlock) {
	kind := ""
	for _, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			kind = ""
			continue
		}
		next := kindOf(line, kind)
		if next != kind || next == "heading" {
			out = append(out, noteBlock{kind: next})
		}
		kind = next
		last := &out[len(out)-1]
		last.lines = append(last.lines, line)
	}
	return out
}

func (n noteBlock) write(b *strings.Builder) {
	switch n.kind {
	case "heading":
		title := strings.TrimLeft(n.lines[0], "#")
		level := min(max(len(n.lines[0])-len(title), 2), 6)
		fmt.Fprintf(b, "<h%d>%s</h%d>\n", level, inlineHTML(strings.TrimSpace(title)), level)
	case "pre":
		b.WriteString("<pre>")
		for i, line := range n.lines {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(html.EscapeString(strings.TrimPrefix(line, "    ")))
		}
		b.WriteString("</pre>\n")
	case "list":
		items := strings.Split(strings.TrimPrefix(strings.Join(n.lines, "\n"), "- "), "\n- ")
		b.WriteString("<ul>\n")
		for _, item := range items {
			fmt.Fprintf(b, "<li>%s</li>\n", inlineHTML(strings.Join(strings.Fields(item), " ")))
		}
		b.WriteString("</ul>\n")
	case "table":
		n.writeTable(b)
	default:
		fmt.Fprintf(b, "<p>%s</p>\n", inlineHTML(strings.Join(n.lines, " ")))
	}
}

// writeTable writes a table whose second line separates head and rows.
func (n noteBlock) writeTable(b *strings.Builder) {
	b.WriteString("<div class=\"wide\"><table class=\"words\">\n")
	tag := "th"
	for i, line := range n.lines {
		if i == 1 && strings.Trim(line, "|-: ") == "" {
			continue
		}
		b.WriteString("<tr>")
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			fmt.Fprintf(b, "<%s>%s</%s>", tag, inlineHTML(strings.TrimSpace(cell)), tag)
		}
		b.WriteString("</tr>\n")
		tag = "td"
	}
	b.WriteString("</table></div>\n")
}

// inlineHTML escapes a text and shows what stands between backticks as code.
func inlineHTML(text string) string {
	parts := strings.Split(text, "`")
	var b strings.Builder
	for i, part := range parts {
		part = html.EscapeString(part)
		switch {
		case i%2 == 0:
			b.WriteString(part)
		case i == len(parts)-1: // a backtick without its fellow
			b.WriteString("`" + part)
		default:
			b.WriteString("<code>" + part + "</code>")
		}
	}
	return b.String()
}
