package plot

import "fmt"

// legend lists the classes below the panels.
type legend struct {
	entries []entry
	style   style
	bottom  float64
}

// entry is a mark and its text.
type entry struct {
	place int
	at    Point
	text  string
}

// mostListed is the most classes in a legend; if there are more, their numbers or names
// are only in the picture.
const mostListed = 200

// newLegend lists few classes one after the other with their numbers of rows, and many
// classes in columns.
func (f *figure) newLegend(top float64) *legend {
	l := &legend{bottom: top, style: legendStyle}
	switch {
	case f.scale != nil:
		l.bottom = f.scale.set(top)
		if f.scale.missing > 0 {
			l.entries = append(l.entries, entry{place: -1, text: fmt.Sprintf("no value (%d)", f.scale.missing)})
			l.flow(f)
		}
		return l
	case f.Labels == nil:
		return l
	}
	if f.many() {
		l.style = manyStyle
	}
	widest := 0.0
	for place, class := range f.classes {
		text := f.name(class)
		if !f.many() {
			text = f.faces.shorten(l.style, text, 220) + fmt.Sprintf(" (%d)", f.counts[place])
		} else if text = f.faces.shorten(l.style, text, 130); len(f.classes) > mostListed {
			break
		}
		l.entries = append(l.entries, entry{place: place, text: text})
		widest = max(widest, f.faces.room(l.style, text))
	}
	columns := max(len(l.entries), 1)
	if f.many() {
		columns = max(int(f.inner()/(widest+keyWidth)), 1)
	}
	if f.unlabelled > 0 {
		l.entries = append(l.entries, entry{place: -1, text: fmt.Sprintf("no label (%d)", f.unlabelled)})
	}
	if !f.many() {
		l.flow(f)
	} else {
		l.columns(f, columns)
	}
	return l
}

// keyWidth is the space of a mark and after a text.
const keyWidth = 30.0

// flow places entries one after the other.
func (l *legend) flow(f *figure) {
	x, y, skip := edge, l.bottom+l.style.size, l.style.size*1.6
	for i := range l.entries {
		width := f.faces.room(l.style, l.entries[i].text) + keyWidth
		if x > edge && x+width > edge+f.inner() {
			x, y = edge, y+skip
		}
		l.entries[i].at = Point{x, y}
		x += width
	}
	l.bottom = y + skip/2
}

// columns places entries below each other, in columns of equal width.
func (l *legend) columns(f *figure, columns int) {
	rows := (len(l.entries) + columns - 1) / columns
	columns = (len(l.entries) + rows - 1) / max(rows, 1)
	skip := l.style.size * 1.4
	for i := range l.entries {
		l.entries[i].at = Point{edge + f.inner()/float64(columns)*float64(i/rows), l.bottom + l.style.size + skip*float64(i%rows)}
	}
	l.bottom += l.style.size + skip*(float64(rows)-0.5)
}

func (l *legend) draw(f *figure, c canvas) {
	if f.scale != nil {
		f.scale.draw(f, c)
	}
	for _, e := range l.entries {
		c.marks(marks{place: e.place, radius: l.style.size * 0.36, at: []Point{{e.at.X + 7, e.at.Y - l.style.size*0.36}}})
		c.text(Point{e.at.X + 17, e.at.Y}, l.style, left, e.text)
	}
}
