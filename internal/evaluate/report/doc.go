// Package report turns the records of a sweep into a page that can be mailed
// around: one HTML file with tables and SVG pictures, no script and nothing to
// load, readable on paper and on dark screens; next to it the same figures as CSV
// and JSON.
//
//	r := &report.Report{Title: "Retrieval of digits", Modes: modes, Records: records}
//	err := r.WriteHTML(w) // or WriteJSON, WriteCSV
//
// Every picture over epsilon has the ceiling of evaluate.Ceiling or
// evaluate.OverlapCeiling in it, with what it holds for, and every figure of a mode
// that downloads more than it keeps stands next to what a random sample of the same
// size gives without a query.
//
// The same records give the same bytes.
package report
