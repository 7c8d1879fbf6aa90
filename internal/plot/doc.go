// Package plot draws all pictures of this module. A [Scatter] has rows as points of the plane,
// coloured by class: panels of the same rows side by side, such as features before and after an
// embedding. A [Chart] has lines, marks and bars over two axes.
//
//	rows := plot.Rows(x.Rows)              // all, or a sample of many
//	p, err := plot.NewPlane(ctx, x, rows)  // two columns, or two principal components
//	...
//	s := &plot.Scatter{Title: "birds", Rows: rows, Labels: labels, Panels: []plot.Panel{...}}
//	err = s.Write(w, plot.SVG)             // or PNG, or HTML
//
// An SVG and a PNG are pictures on white. An HTML page holds the same picture, follows the
// light or dark setting of the reader, shows row and class of the point below the mouse in
// all panels, and loads nothing. A Chart, or a Scatter of one panel, can also be an element of a
// page that has the rules of [Style]. The same picture gives the same bytes.
package plot
