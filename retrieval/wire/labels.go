package wire

import "unicode/utf8"

// Labels are the classes of the rows of a gallery, which a server may publish. They travel as JSON.
// A client takes all of them, so that the server learns nothing by that.
type Labels struct {
	// Labels has the class of each row of the gallery, by its number, -1 for none.
	Labels []int32 `json:"labels"`
	// Names are those of classes 0, 1 and so on; nil where classes are numbers.
	Names []string `json:"names,omitempty"`
}

// Check returns nil, or an *Error for labels of fewer rows than there are, and for those that are no
// class: below -1, or without a name where there are names.
func (l *Labels) Check(rows int) error {
	if len(l.Labels) < rows {
		return refuse("labels", "%d, of %d rows", len(l.Labels), rows)
	}
	for i, label := range l.Labels {
		if label < -1 || l.Names != nil && int(label) >= len(l.Names) {
			return refuse("labels", "that of row %d is no class", i+1)
		}
	}
	seen := make(map[string]bool, len(l.Names))
	for i, name := range l.Names {
		if seen[name] || !utf8.ValidString(name) {
			return refuse("names", "that of class %d is that of another, or not UTF-8", i)
		}
		seen[name] = true
	}
	return nil
}
