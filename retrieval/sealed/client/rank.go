package client

import (
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/sametime"
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
// wire.ErrMessage for an answer to another question, ErrAnswer for a query whose secrets were
// overwritten, *VersionError, and ErrRecord for k below 1. After that the same steps are done whatever the answer says: a server that lies
// spoils the result, and what follows is the same for all rows. ErrRecord for a row that was no query
// comes at the end.
//
// How many rows there are is private, too: a server may leave cells empty. Whoever sends something
// afterwards had better go over the result up to its capacity, which is the lesser of k and the
// slots of the cells that were probed. Behind the end are matches with wire.Padding for Name and
// ID, infinitely far away.
func (c *Client) Rank(q *Query, answer *wire.SealedAnswer, k int) ([]Match, error) {
	v, err := c.checkAnswer(q, answer, k)
	if err != nil {
		return nil, err
	}
	s := q.secret
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.forgotten {
		return nil, fmt.Errorf("client: %w", errForgotten)
	}
	workers := par.New(c.workers)
	defer workers.Close()
	scores, err := s.sealed.decrypt(workers, v.hint, answer.Words)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	slots := c.rank(s.row, v, scores)
	sametime.Sort(slots)
	found, rows := matches(slots, k)
	if s.row.valid == 0 {
		return nil, fmt.Errorf("client: %w: an entry is not finite, or too large", ErrRecord)
	}
	return found[:rows], nil
}

// checkAnswer looks at what is public of an answer and returns the version it is of.
func (c *Client) checkAnswer(q *Query, answer *wire.SealedAnswer, k int) (*version, error) {
	if q == nil || q.secret == nil || answer == nil {
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

// emptyKey is the key of a slot without a row: no distance has it.
const emptyKey = math.MaxUint64

// rank returns all slots of the cells that were probed, with keys that order by squared
// distance. Norms and row numbers are taken out of those of all cells by masks.
func (c *Client) rank(row *queryRow, v *version, scores []uint32) []sametime.Slot {
	slots, probes := c.manifest.Length, len(row.cells)
	out := make([]sametime.Slot, probes*slots)
	norms := pick(row.cells, v.norms, slots)
	numbers := pick(row.cells, v.ids, slots)
	unit := row.length / float64(c.manifest.Kappa) // of a score
	for p, cell := range row.cells {
		for r := range slots {
			i := p*slots + r
			norm := int16(uint16(norms[i]))
			score := float64(2 * unit * float64(int32(scores[r*probes+p]))) // not fused: same bits everywhere
			squared := (c.norm(norm)/c.manifest.Scale-score)/c.manifest.Scale + float64(row.length*row.length)
			empty := sametime.Equal(norms[i]&0xffff, 1<<15) // wire.EmptySlot
			name := cell*uint32(slots) + uint32(r)
			id := name
			if v.ids != nil {
				id = numbers[i]
			}
			out[i] = sametime.Slot{Key: sametime.Order(squared) | uint64(empty)<<32 | uint64(empty), Name: name, ID: id}
		}
	}
	return out
}

// pick returns what the cells of probes have, one cell after the other. It reads all cells.
func pick[T int16 | uint32](cells []uint32, all [][]T, slots int) []uint32 {
	out := make([]uint32, len(cells)*slots)
	for i, values := range all {
		for p, cell := range cells {
			mask, to := sametime.Equal(cell, uint32(i)), out[p*slots:][:slots]
			for r, v := range values {
				to[r] |= mask & uint32(v)
			}
		}
	}
	return out
}

// matches returns the first k slots, and how many of them have a row. The others, behind these,
// are wire.Padding.
func matches(sorted []sametime.Slot, k int) (found []Match, rows int) {
	found = make([]Match, min(k, len(sorted)))
	zero, infinite := sametime.Order(0), math.Float64bits(math.Inf(1))
	two := sametime.Order(2) // some processors take the roots of 0, 1 and infinity in less time
	for i := range found {
		s := sorted[i]
		negative := sametime.Less(s.Key, zero) // by the error of its score
		there := sametime.Less(s.Key, emptyKey)
		squared := sametime.Choose(there&^negative, s.Key, two)
		distance := math.Float64bits(math.Sqrt(sametime.Unorder(squared)))
		distance = sametime.Choose(there, distance&^negative, infinite) // the bits of 0 where it is negative
		none := uint32(^there) & wire.Padding
		found[i] = Match{s.Name | none, s.ID | none, math.Float64frombits(distance)}
		rows += int(there & 1)
	}
	return found, rows
}
