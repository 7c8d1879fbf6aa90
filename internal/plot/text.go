package plot

import (
	"strings"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
)

// style is the appearance of a text.
type style struct {
	size float64
	bold bool
	soft bool // in the colour of small print
}

var (
	titleStyle   = style{size: 19, bold: true}
	panelStyle   = style{size: 14, bold: true}
	smallStyle   = style{size: 11.5, soft: true}
	captionStyle = style{size: 13, soft: true}
	legendStyle  = style{size: 13}
	manyStyle    = style{size: 11}
	labelStyle   = style{size: 11, bold: true}
)

// faces makes faces of the fonts embedded in this program.
type faces struct {
	scale float64
	made  map[style]font.Face
}

func newFaces(scale float64) *faces { return &faces{scale, map[style]font.Face{}} }

func (f *faces) face(s style) font.Face {
	s.soft = false
	if face, ok := f.made[s]; ok {
		return face
	}
	data := goregular.TTF
	if s.bold {
		data = gobold.TTF
	}
	parsed, err := opentype.Parse(data)
	if err != nil {
		panic(err) // constants of a package
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: s.size * f.scale, DPI: 72})
	if err != nil {
		panic(err)
	}
	f.made[s] = face
	return face
}

// room returns the width to reserve for a text, since the fonts of a browser may be wider than
// ours.
func (f *faces) room(s style, text string) float64 { return 1.16 * f.width(s, text) }

// width returns the width of a text in our fonts.
func (f *faces) width(s style, text string) float64 {
	return float64(font.MeasureString(f.face(s), text)) / 64 / f.scale
}

// wrap breaks a text into lines of at most the given width.
func (f *faces) wrap(s style, text string, width float64) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && f.room(s, lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// shorten cuts a text that is too wide.
func (f *faces) shorten(s style, text string, width float64) string {
	const longest = 200 // characters; more fit into no picture
	text = printable(text)
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest])
	}
	if f.room(s, text) <= width {
		return text
	}
	runes := []rune(text)
	for len(runes) > 1 && f.room(s, string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return strings.TrimSpace(string(runes)) + "…"
}

// printable replaces characters that no picture can show, since names come from files.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
}
