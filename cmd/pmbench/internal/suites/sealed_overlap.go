package suites

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/par"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// nearestOverlap is the K of overlap@K.
const nearestOverlap = 8

// exactRows returns the nearest gallery rows of all queries, by the distances of their float32
// rows.
func (s *SealedSetting) exactRows(ctx context.Context) ([]int32, error) {
	if s.exact != nil {
		return s.exact, nil
	}
	engine, err := privatemail.New()
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	ids := make([]int32, s.queries.Rows*nearestOverlap)
	if err := engine.Nearest32(ctx, s.rows, s.queries, nearestOverlap, ids, nil); err != nil {
		return nil, err
	}
	s.exact = ids
	return ids, nil
}

// overlapOf is the share of the exact neighbours of a query that were found.
func (s *SealedSetting) overlapOf(query int, found []int32) float64 {
	have := 0
	for _, id := range s.exact[query*nearestOverlap:][:nearestOverlap] {
		if slices.Contains(found, id) {
			have++
		}
	}
	return float64(have) / nearestOverlap
}

// StoredRows returns the bytes of the rows as the server stores them, row after row.
func (s *SealedSetting) StoredRows(ctx context.Context) ([]int8, error) {
	if s.stored != nil {
		return s.stored, nil
	}
	const block = 1024
	n, d := s.rows.Rows, s.rows.Cols
	stored := make([]int8, n*d)
	err := s.Lab.Workers(measure.AllWorkers()).Do(ctx, split.Blocks(n, block), par.Func(func(_, b int) {
		row := make([]float64, d)
		lo, hi := split.Block(b, n, block)
		for i := lo; i < hi; i++ {
			points.ReadRow(row, s.rows, i)
			rotation.Row(row, row)
			for j, v := range row {
				stored[i*d+j] = int8(min(max(math.RoundToEven(v*s.Manifest.Scale), -127), 127))
			}
		}
	}))
	if err == nil {
		s.stored = stored
	}
	return s.stored, err
}

// plainOverlap ranks all queries without encryption, by the bytes of the rows in the nearest
// cells: what the client would decrypt, but for its errors. So other numbers of probes need no
// gallery of their own.
func (s *SealedSetting) plainOverlap(ctx context.Context, probes int) (*measure.Subject, error) {
	if _, err := s.exactRows(ctx); err != nil {
		return nil, err
	}
	if _, err := s.StoredRows(ctx); err != nil {
		return nil, err
	}
	probes = min(probes, s.Manifest.Cells)
	ids := s.Gallery.IDs().IDs
	var out *measure.Subject
	out = s.subject(s.queries.Rows, func(ctx context.Context) error {
		shares := make([]float64, s.queries.Rows)
		err := s.Lab.Workers(measure.AllWorkers()).Do(ctx, len(shares), par.Func(func(_, q int) {
			shares[q] = s.overlapOf(q, s.rankPlain(q, probes, ids))
		}))
		out.Sealed.Overlap = figures.Finite(figures.Mean(shares))
		return err
	})
	out.Sealed.Probes = probes
	scored := int64(s.queries.Rows) * int64(probes) * int64(s.Manifest.Length)
	out.NNZ, out.Bytes = scored*int64(s.rows.Cols), scored*int64(s.rows.Cols)
	return out, nil
}

// A scored is a cell or a slot with its distance from a query.
type scored struct {
	distance float64
	at       int
}

func nearer(a, b scored) int {
	return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.at, b.at))
}

// rankPlain returns the nearest rows of a query among those of the nearest cells.
func (s *SealedSetting) rankPlain(query, probes int, ids []uint32) (found []int32) {
	d := s.Manifest.Dimension
	z := make([]float64, d)
	points.ReadRow(z, s.queries, query)
	cells := s.nearestCells(z)[:probes]
	rotation.Row(z, z)
	var rows []scored
	for _, c := range cells {
		for name := c.at * s.Manifest.Length; name < (c.at+1)*s.Manifest.Length; name++ {
			if ids[name] == wire.Padding {
				continue
			}
			distance := 0.0
			for j, v := range s.stored[int(ids[name])*d:][:d] {
				difference := float64(v)/s.Manifest.Scale - z[j]
				distance += difference * difference
			}
			rows = append(rows, scored{distance, name})
		}
	}
	slices.SortFunc(rows, nearer)
	for _, r := range rows[:min(len(rows), nearestOverlap)] {
		found = append(found, int32(ids[r.at]))
	}
	return found
}

// nearestCells returns all cells, the nearest to a query first.
func (s *SealedSetting) nearestCells(z []float64) []scored {
	cells := make([]scored, s.Manifest.Cells)
	for c := range cells {
		cells[c].at = c
		for j, v := range s.Manifest.Centres[c*len(z):][:len(z)] {
			cells[c].distance += (float64(v) - z[j]) * (float64(v) - z[j])
		}
	}
	slices.SortFunc(cells, nearer)
	return cells
}

// encryptedOverlap ranks the first queries through client and server.
func (s *SealedSetting) encryptedOverlap(ctx context.Context) (*measure.Subject, error) {
	if _, err := s.exactRows(ctx); err != nil {
		return nil, err
	}
	ids := s.Gallery.IDs().IDs
	var out *measure.Subject
	out = s.subject(sealedEncrypted, func(ctx context.Context) error {
		asked, err := s.asker.Ask(ctx, s.doubleQueries(0, sealedEncrypted))
		if err != nil {
			return err
		}
		s.Gallery.SetWorkers(s.Lab.Workers(measure.AllWorkers()))
		var shares []float64
		for part := range slices.Chunk(asked, sealedWaiting) {
			found, err := s.rankEncrypted(ctx, part, ids)
			if err != nil {
				return err
			}
			for _, rows := range found {
				shares = append(shares, s.overlapOf(len(shares), rows))
			}
		}
		out.Sealed.Overlap = figures.Finite(figures.Mean(shares))
		return nil
	})
	return out, nil
}

// rankEncrypted has queries answered in one pass and returns the nearest rows of each.
func (s *SealedSetting) rankEncrypted(ctx context.Context, asked []*sealedclient.Query, ids []uint32) (found [][]int32, err error) {
	requests := make([]*wire.SealedRequest, len(asked))
	for i, q := range asked {
		requests[i] = q.Request()
	}
	answers, err := s.Gallery.Answer(ctx, requests...)
	if err != nil {
		return nil, err
	}
	for i, q := range asked {
		matches, err := s.asker.Rank(q, answers[i], nearestOverlap)
		if err != nil {
			return nil, err
		}
		q.Forget()
		var rows []int32
		for _, m := range matches {
			rows = append(rows, int32(ids[m.Name]))
		}
		found = append(found, rows)
	}
	return found, nil
}
