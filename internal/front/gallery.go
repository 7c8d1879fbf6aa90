package front

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail/internal/crc"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A gallery is one that all shards have. It implements service.Source.
type gallery struct {
	front  *Front
	parts  []*remote.Shard // what each shard says of it
	shards []server.Shard  // the rows of each
	book   *wire.Codebook
	hash   wire.Hash
	chart  []byte // the map, nil for none
	spans  []wire.Span
	turn   atomic.Uint32 // which shard is asked for the base sample next
}

var _ service.Source = (*gallery)(nil)

// errDescription reports a shard that describes what the codebook does not allow.
var errDescription = errors.New("front: a description that does not go with the codebook")

// open takes the codebook and the map of a gallery that all shards describe, and compares the
// descriptions with them. After an error blame is the number of the shard that it is about.
func (f *Front) open(ctx context.Context, parts []*remote.Shard) (g *gallery, blame int, err error) {
	g = &gallery{front: f, parts: parts, hash: parts[0].Codebook}
	if g.book, err = f.shards[0].CodebookOf(ctx, g.hash); err != nil {
		return nil, 0, err
	}
	rows := make([]int, len(parts))
	for i, p := range parts {
		s := server.Shard{
			Index: p.Index, Count: p.Count, First: p.First, Rows: p.Rows, Length: p.Length,
			Whole: p.Whole, Checksum: [crc.Size]byte(p.Checksum),
		}
		if err := s.Check(g.book); err != nil {
			return nil, i, fmt.Errorf("%w: %w", errDescription, err)
		}
		for encoding, base := range p.Base {
			if base.Length < 1 || base.Length > g.book.BaseBytes(encoding, g.book.Rows) {
				return nil, i, fmt.Errorf("%w: a base sample of %d bytes", errDescription, base.Length)
			}
		}
		g.shards, rows[i] = append(g.shards, s), p.Rows
	}
	if g.spans, err = wire.JoinRows(g.hash, g.book.Ranking, rows, g.shards[0].Checksum); err != nil {
		return nil, 0, err
	}
	if parts[0].Map.Length > 0 {
		if g.chart, err = f.shards[0].MapBytes(ctx, g.hash, parts[0].Map); err != nil {
			return nil, 0, err
		}
	}
	return g, 0, nil
}

// Codebook implements service.Source.
func (g *gallery) Codebook() *wire.Codebook { return g.book }

// failure returns the error of a shard for whoever asked, or that of the context.
func (g *gallery) failure(ctx context.Context, i int, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	why := reason(err)
	if why == reasonSilent {
		g.front.lose(i)
	}
	return &service.ShardError{Index: i + 1, Count: len(g.shards), Reason: why, Stale: errors.Is(err, remote.ErrStale)}
}

// Base implements service.Source. All shards have the sample: each block comes from the next one,
// or from another where that one fails.
func (g *gallery) Base(encoding wire.Encoding) service.Content {
	base := g.parts[0].Base[encoding]
	return service.Content{Hash: base.Hash, Length: base.Length, ReadAt: func(ctx context.Context, p []byte, offset int64) (err error) {
		for _, at := range g.inTurn() {
			if err = g.front.shards[at].BasePiece(ctx, g.hash, encoding, base.Hash, p, offset); err == nil {
				return nil
			}
			if err = g.failure(ctx, at, err); ctx.Err() != nil {
				break
			}
		}
		return err
	}}
}

// inTurn returns all shards, from the next one on. Those that are not ready come last: one that
// hangs would keep every block that it has the turn for waiting.
func (g *gallery) inTurn() []int {
	n := len(g.shards)
	begin := int(g.turn.Add(1) % uint32(n))
	order := make([]int, n)
	for i := range order {
		order[i] = (begin + i) % n
	}
	states := g.front.Shards()
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case states[a].Ready == states[b].Ready:
			return 0
		case states[a].Ready:
			return -1
		}
		return 1
	})
	return order
}

// Rows implements service.Source.
func (g *gallery) Rows() service.Content {
	return service.Content{Hash: g.shards[0].Whole, Length: g.book.AllRowsBytes(), ReadAt: g.readRows}
}

// readRows reads a range of all rows.
func (g *gallery) readRows(ctx context.Context, p []byte, offset int64) error {
	return g.front.whileAllAnswer(ctx, func(ctx context.Context) error { return g.takeRows(ctx, p, offset) })
}

// takeRows reads a range of all rows from the shards that have it.
func (g *gallery) takeRows(ctx context.Context, p []byte, offset int64) error {
	for _, s := range g.spans {
		if len(p) == 0 {
			return nil
		}
		if offset >= s.Length {
			offset -= s.Length
			continue
		}
		n := int(min(int64(len(p)), s.Length-offset))
		if s.Bytes != nil {
			copy(p[:n], s.Bytes[offset:])
		} else if err := g.front.shards[s.Of].ShardRowsPiece(ctx, g.hash, g.parts[s.Of].Own, p[:n], s.Offset+offset); err != nil {
			return g.failure(ctx, s.Of, err)
		}
		p, offset = p[n:], 0
	}
	return nil
}
