// Package plot draws rows as points of the plane, coloured by class: panels of the same
// rows side by side, such as features before and after an embedding.
//
//	rows := plot.Rows(x.Rows)              // all, or a sample of many
//	p, err := plot.NewPlane(ctx, x, rows)  // two columns, or two principal components
//	...
//	s := &plot.Scatter{Title: "birds", Rows: rows, Labels: labels, Panels: []plot.Panel{...}}
//	err = s.Write(w, plot.SVG)             // or PNG, or HTML
//
// An SVG and a PNG are pictures on white. An HTML page has the same picture, follows the
// light or dark setting of the reader, shows the row and class of the point under the
// mouse in all panels, and loads nothing. The same Scatter gives the same bytes.
package plot
