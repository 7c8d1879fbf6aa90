package report

import (
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// encrypted reports whether a summary is of queries that the server cannot read.
func encrypted(s *evaluate.Summary) bool { return s.Volume.Sealed != (evaluate.Exchange{}) }

// sealed is the table of modes that hide their queries by encryption. They have no epsilon, so
// they share no table with modes that have one.
func (d *dataset) sealed() *table {
	t := &table{
		Caption: "Encrypted queries, hidden under an assumption",
		Head:    []string{"mode", "R@1", "R@8", "P@8", "overlap@8", "up, a query", "down, a query", "once", "server, a query"},
	}
	for _, m := range d.modes {
		s := d.find(m.Name, 0)
		if s == nil || !encrypted(s) {
			continue
		}
		x := s.Volume.Sealed
		t.Rows = append(t.Rows, row{Cells: []cell{
			{Text: m.Title}, show(s, evaluate.RecallAt1), show(s, evaluate.RecallAt8), show(s, evaluate.PrecisionAt8), show(s, evaluate.OverlapAt8),
			bytesCell(x.Up), bytesCell(x.Down), bytesCell(x.Once), secondsCell(x.Seconds),
		}})
	}
	return t.unlessEmpty()
}

func secondsCell(v float64) cell {
	if v == 0 {
		return cell{Text: "–"}
	}
	return cell{Text: ShowSeconds(v)}
}

// ShowSeconds prints seconds with three digits and a unit: 1.25 s, 32.5 ms, 325 µs.
func ShowSeconds(v float64) string {
	unit := " s"
	for _, smaller := range []string{" ms", " µs"} {
		if v >= .9995 {
			break
		}
		v, unit = v*1000, smaller
	}
	return strconv.FormatFloat(v, 'g', 3, 64) + unit
}
