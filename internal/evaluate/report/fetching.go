package report

import (
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// fetches reports whether a summary downloads more than it keeps.
func fetches(s *evaluate.Summary) bool {
	_, ok := s.Figures[evaluate.NoQueryRecall8]
	return ok
}

// takesAll reports whether a summary downloads the whole gallery, once and for no epsilon.
func takesAll(s *evaluate.Summary) bool { return s.Epsilon == 0 && s.Base >= 1 }

// fetch is the table of modes that download more rows than they keep.
func (d *dataset) fetch() *table {
	t := &table{
		Caption: "More rows sent than kept",
		Head:    []string{"mode", "epsilon", "p", "download", "overlap@8", "no query", "of int8", "R@1", "no query", "R@8", "no query"},
	}
	for _, m := range d.modes {
		title := m.Title // stands in the first of its rows
		for i := range d.main {
			s := &d.main[i]
			if s.Mode != m.Name || !fetches(s) && !takesAll(s) {
				continue
			}
			compact := show(s, evaluate.CompactOverlap8)
			if takesAll(s) { // which sends nothing else
				compact = show(s, evaluate.OverlapAt8)
			}
			t.Rows = append(t.Rows, row{Cells: []cell{
				{Text: title}, {Text: epsilonOf(s)}, fact(s, inclusionFact), {Text: download(s)},
				show(s, evaluate.OverlapAt8), show(s, evaluate.NoQueryOverlap8), compact,
				show(s, evaluate.RecallAt1), show(s, evaluate.NoQueryRecall1),
				show(s, evaluate.RecallAt8), show(s, evaluate.NoQueryRecall8),
			}})
			title = ""
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	none := cell{}
	return t.startingWith(randomRow(none, none, none, d.randomOverlap(), none, none,
		d.randomCell(evaluate.RandomRecall1), none, d.randomCell(evaluate.RandomRecall8), none))
}

// epsilonOf prints an epsilon, where there is one.
func epsilonOf(s *evaluate.Summary) string {
	if s.Epsilon == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.Epsilon, 'g', -1, 64)
}

// download prints the share of the gallery that travels.
func download(s *evaluate.Summary) string {
	switch {
	case s.Base == 0:
		return share(s.Download)
	case s.Download == 0:
		return share(s.Base) + " once"
	}
	return share(s.Download) + " + " + share(s.Base) + " once"
}

// volume is the table of what travels in bytes, with mode all next to every mode.
func (d *dataset) volume() *table {
	t := &table{
		Caption: "Bytes that travel",
		Head:    []string{"mode", "epsilon", "a query", "of int8", "once", "of int8", "all rows, once"},
	}
	for _, m := range d.modes {
		title := m.Title
		for i := range d.main {
			s := &d.main[i]
			if v := s.Volume; s.Mode == m.Name && v != (evaluate.Volume{}) && !encrypted(s) {
				t.Rows = append(t.Rows, row{Cells: []cell{
					{Text: title}, {Text: epsilonOf(s)}, bytesCell(v.Float32.Query), bytesCell(v.Int8.Query),
					bytesCell(v.Float32.Once), bytesCell(v.Int8.Once), bytesCell(v.AllRows),
				}})
				title = ""
			}
		}
	}
	return t.unlessEmpty()
}

func bytesCell(v float64) cell {
	if v == 0 {
		return cell{Text: "–"}
	}
	return cell{Text: ShowBytes(v)}
}

// ShowBytes prints a number of bytes with three digits and a unit, powers of 1000: 325 B,
// 32.5k, 1.25M.
func ShowBytes(v float64) string {
	unit := " B"
	for _, larger := range []string{"k", "M", "G", "T"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, larger
	}
	digits := 0
	switch {
	case unit == " B" || v >= 99.95:
	case v >= 9.995:
		digits = 1
	default:
		digits = 2
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + unit
}
