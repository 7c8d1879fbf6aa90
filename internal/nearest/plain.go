package nearest

import (
	"context"

	"github.com/seed-64e14a55/privatemail/internal/points"
)

// panelsBetweenChecks is how many panels are handled between two checks of the context.
const panelsBetweenChecks = 64

// plain computes all sums. Packing a panel of gallery rows takes as long as one query of
// the tile.
type plain[M points.Matrix] struct {
	*search[M]
	tile  []float64 // tileQueries rows
	panel []float64 // panelRows gallery rows, interleaved
	row   []float64
	best  []nearestK // one per query of the tile
}

func newPlain[M points.Matrix](s *search[M]) *plain[M] {
	p := &plain[M]{
		search: s,
		tile:   make([]float64, tileQueries*s.d),
		panel:  make([]float64, panelRows*s.d),
		row:    make([]float64, s.d),
		best:   make([]nearestK, tileQueries),
	}
	for i := range p.best {
		p.best[i] = make(nearestK, 0, s.k)
	}
	return p
}

func (p *plain[M]) answer(ctx context.Context, first int) {
	rows := p.queryRows[first:min(first+tileQueries, len(p.queryRows))]
	for i, row := range rows {
		points.ReadRow(p.query(i), p.queries, row)
		p.best[i] = p.best[i][:0]
	}
	for g := 0; g < len(p.galleryRows); g += panelRows {
		if g%(panelRows*panelsBetweenChecks) == 0 && ctx.Err() != nil {
			return
		}
		panel := p.galleryRows[g:min(g+panelRows, len(p.galleryRows))]
		pack(p.panel, p.row, p.gallery, panel)
		for i := 0; i < len(rows); i += 2 {
			// The last of an odd number of queries is computed twice.
			other := min(i+1, len(rows)-1)
			s := squaredDistances(p.query(i), p.query(other), p.panel)
			p.offer(i, rows[i], panel, s[:panelRows])
			if other != i {
				p.offer(other, rows[other], panel, s[panelRows:])
			}
		}
	}
	for i := range rows {
		p.put(first+i, p.best[i])
	}
}

func (p *plain[M]) query(i int) []float64 { return p.tile[i*p.d : (i+1)*p.d] }

func (p *plain[M]) offer(i, queryRow int, panel []int, distances []float64) {
	for r, row := range panel {
		if !p.leaveOut || row != queryRow {
			p.best[i].offer(p.k, candidate{squaredDistance: distances[r], row: row})
		}
	}
}

// pack interleaves the rows of a panel: coordinate j of row r goes to panel[panelRows*j+r].
// Missing rows are left as they are and are not used.
func pack[M points.Matrix](panel, row []float64, x M, rows []int) {
	for r, i := range rows {
		points.ReadRow(row, x, i)
		for j, v := range row {
			panel[panelRows*j+r] = v
		}
	}
}
