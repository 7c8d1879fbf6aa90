package plot

import (
	"bufio"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
)

// The style sheet and the script of a page.
var (
	//go:embed page.css
	pageCSS string
	//go:embed page.js
	pageJS string
)

// writeHTML writes a self-contained page.
func writeHTML(w io.Writer, f *figure) error {
	names := make([]string, len(f.classes))
	for i, class := range f.classes {
		names[i] = printable(f.name(class))
	}
	data, err := json.Marshal(names) // escapes <, > and &
	if err != nil {
		return err
	}
	values, err := json.Marshal(f.valueTexts())
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	title := html.EscapeString(printable(f.Title))
	fmt.Fprintf(b, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n", title)
	fmt.Fprintf(b, "<style>%s%s%s\n@media (prefers-color-scheme: dark) {%s}\n</style>\n<main>\n", pageCSS, svgRules, themeRules(light(), f.groupCount(), f.colour), themeRules(dark(), f.groupCount(), f.colour))
	fmt.Fprintf(b, "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s\">\n", f.width, f.height, title)
	f.draw(&svgCanvas{w: b, f: f, page: true})
	fmt.Fprintf(b, "</svg>\n<p id=\"tip\" hidden></p>\n</main>\n<script>\nconst classNames = %s, rowValues = %s;\n%s</script>\n</html>\n", data, values, pageJS)
	return b.Flush()
}

// valueTexts returns the text of the page for the value of each row, by the number of the row.
func (f *figure) valueTexts() map[int]string {
	out := make(map[int]string)
	for i, v := range f.Values {
		row := i
		if f.Rows != nil {
			row = f.Rows[i]
		}
		out[row] = fmt.Sprintf("%s %.6g", printable(f.ValueName), v)
		if v-v != 0 {
			out[row] = "no value"
		}
	}
	return out
}
