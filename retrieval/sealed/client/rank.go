package client

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Match is a row of the server's gallery.
type Match struct {
	// Name is the name of its slot.
	Name uint32
	// ID is its row number, and Name where the client has no row numbers (Client.SetIDs).
	ID uint32
	// Distance is the Euclidean distance in the space that was searched, from the row as the
	// server stores it; Client.Bound says how exact its square is.
	Distance float64
}

// Rank decrypts the answer to a query and returns the k nearest rows of the cells that were
// probed, nearest first, ties by name; fewer if there are not as many.
//
// Errors that depend on public values come before anything is decrypted: ErrAnswer and
// wire.ErrMessage for an answer to another question, *VersionError, ErrForgotten, and ErrRecord
// for k below 1. After that the same steps are done whatever the answer says: a server that lies
// spoils the result and learns nothing from what follows. ErrRecord for a row that was no query
// comes at the end.
func (c *Client) Rank(q *Query, answer *wire.SealedAnswer, k int) ([]Match, error) {
	v, err := c.checkAnswer(q, answer, k)
	if err != nil {
		return nil, err
	}
	s := q.secret
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.forgotten {
		return nil, fmt.Errorf("client: %w", ErrForgotten)
	}
	workers := par.New(c.workers)
	defer workers.Close()
	scores, err := s.sealed.decrypt(workers, v.hint, answer.Words)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	found := c.rank(s.row, v, scores)
	sortSlots(found)
	matches := c.matches(found, k)
	if s.row.valid == 0 {
		return nil, fmt.Errorf("client: %w: an entry is not finite, or too large", ErrRecord)
	}
	return matches, nil
}

// checkAnswer looks at what is public of an answer and returns the version it is of.
func (c *Client) checkAnswer(q *Query, answer *wire.SealedAnswer, k int) (*version, error) {
	if q == nil || answer == nil {
		return nil, fmt.Errorf("client: %w: there is none", ErrAnswer)
	}
	if err := answer.Check(); err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if q.request.Epoch != c.epoch || answer.Epoch != c.epoch || answer.Count != c.manifest.Probes || answer.Rows != c.manifest.Length {
		return nil, fmt.Errorf("client: %w", ErrAnswer)
	}
	if k < 1 {
		return nil, fmt.Errorf("client: %w: the %d nearest", ErrRecord, k)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at(answer.Version)
}

// A slot is one of those that were probed.
type slot struct {
	key      uint64 // orders by squared distance
	name, id uint32
}

// emptyKey is the key of a slot without a row: no distance has it.
const emptyKey = math.MaxUint64

// rank returns all slots of the cells that were probed. Norms and row numbers are taken out of
// those of all cells by masks.
func (c *Client) rank(row *queryRow, v *version, scores []uint32) []slot {
	length, probes := c.manifest.Length, len(row.cells)
	out := make([]slot, probes*length)
	norms := pick(row.cells, v.norms, length)
	ids := pick(row.cells, v.ids, length)
	unit := row.length / float64(c.manifest.Kappa) // of a score
	for p, cell := range row.cells {
		for r := range length {
			i := p*length + r
			norm := int16(uint16(norms[i]))
			score := float64(2 * unit * float64(int32(scores[r*probes+p]))) // not fused: same bits everywhere
			squared := (c.norm(norm)/c.manifest.Scale-score)/c.manifest.Scale + float64(row.length*row.length)
			empty := equal(uint32(uint16(norm)), 1<<15)
			name := cell*uint32(length) + uint32(r)
			id := name
			if v.ids != nil {
				id = ids[i]
			}
			out[i] = slot{order(squared) | uint64(empty)<<32 | uint64(empty), name, id}
		}
	}
	return out
}

// pick returns what the cells of probes have, one cell after the other. It reads all cells.
func pick[T int16 | uint32](cells []uint32, all [][]T, length int) []uint32 {
	out := make([]uint32, len(cells)*length)
	for i, values := range all {
		for p, cell := range cells {
			mask, to := equal(cell, uint32(i)), out[p*length:][:length]
			for r, v := range values {
				to[r] |= mask & uint32(v)
			}
		}
	}
	return out
}

// matches returns the first k slots that have a row.
func (c *Client) matches(sorted []slot, k int) []Match {
	out := make([]Match, min(k, len(sorted)))
	rows := 0
	for i := range out {
		s := sorted[i]
		out[i] = Match{s.name, s.id, math.Sqrt(max(0, unorder(s.key)))}
		rows += int(less(s.key, emptyKey) & 1)
	}
	return out[:rows]
}
