package front

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Memory implements service.Source: the answers of shards as they come and as they are decoded,
// and the whole.
func (g *gallery) Memory(encoding wire.Encoding) int64 {
	sum := g.book.AnswerBytes(encoding)
	for i := range g.shards {
		sum += 2 * g.shards[i].AnswerBytes(g.book, encoding)
	}
	return sum
}

// Answer implements service.Source. All shards get the same bytes at the same time, whatever the
// cells are.
func (g *gallery) Answer(ctx context.Context, request *wire.CellsRequest, encoding wire.Encoding) (out *wire.CellsAnswer, err error) {
	err = g.front.whileAllAnswer(ctx, func(ctx context.Context) error {
		out, err = g.ask(ctx, request, encoding)
		return err
	})
	return out, err
}

// ask asks all shards.
func (g *gallery) ask(ctx context.Context, request *wire.CellsRequest, encoding wire.Encoding) (*wire.CellsAnswer, error) {
	frame, err := request.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("front: %w", err)
	}
	asking, cancel := context.WithCancel(ctx)
	defer cancel()
	parts, errs := make([]*wire.CellsAnswer, len(g.shards)), make([]error, len(g.shards))
	g.front.each(func(i int, s *remote.Server) {
		part := &g.shards[i]
		parts[i], errs[i] = s.ShardCells(asking, g.hash, frame, encoding, part.AnswerBytes(g.book, encoding))
		if errs[i] == nil {
			errs[i] = g.check(part, request, encoding, parts[i])
		}
		if errs[i] != nil {
			cancel() // without this shard there is no answer
		}
	})
	if i := toBlame(errs); i >= 0 {
		return nil, g.failure(ctx, i, errs[i])
	}
	out, blame, err := g.join(request, encoding, parts)
	if err != nil {
		return nil, g.failure(ctx, blame, err)
	}
	return out, nil
}

// toBlame returns the shard whose error a request failed for, -1 for none: one that failed by itself
// before one whose request was ended for that.
func toBlame(errs []error) int {
	blame := -1
	for i, err := range errs {
		switch {
		case err == nil:
		case !errors.Is(err, context.Canceled):
			return i
		case blame < 0:
			blame = i
		}
	}
	return blame
}

// errAnswer reports an answer of a shard that is not what is due.
var errAnswer = errors.New("front: an answer that is not what is due")

// check refuses an answer that is not one of a shard to a request. The wire has checked that its
// lists rise, and that its rows are finite or codes.
func (g *gallery) check(s *server.Shard, request *wire.CellsRequest, encoding wire.Encoding, a *wire.CellsAnswer) error {
	if a.Codebook != g.hash || a.Encoding != encoding || a.Length != s.Length || a.Dimension != g.book.Ranking || !slices.Equal(a.Cells, request.Cells) {
		return fmt.Errorf("%w: it is that of another request or codebook", errAnswer)
	}
	for i := range a.Cells {
		for _, row := range a.List(i) {
			if !s.Has(row) {
				return fmt.Errorf("%w: a row that the shard does not have", errAnswer)
			}
		}
	}
	for _, entry := range a.Compact.Anchors {
		if anchor, _ := g.book.Place(entry); anchor == nil {
			return fmt.Errorf("%w: an anchor that the codebook does not have", errAnswer)
		}
	}
	return nil
}

// join puts the lists of all shards together and pads them. Shards are blocks of rows, one behind
// the other, so that each list rises. After an error blame is the number of the shard that it is
// about.
func (g *gallery) join(request *wire.CellsRequest, encoding wire.Encoding, parts []*wire.CellsAnswer) (out *wire.CellsAnswer, blame int, err error) {
	length, d := g.book.Length, g.book.Ranking
	n := len(request.Cells) * length
	out = &wire.CellsAnswer{Codebook: g.hash, Cells: request.Cells, Length: length, Dimension: d, Encoding: encoding, IDs: slices.Repeat([]uint32{wire.Padding}, n)}
	if encoding == wire.Int8 {
		out.Compact = wire.Compact{Anchors: make([]uint16, n), Steps: make([]uint16, n), Codes: make([]int8, n*d)}
	} else {
		out.Rows = make([]float32, n*d)
	}
	for i := range request.Cells {
		at, end := i*length, (i+1)*length
		for shard, part := range parts {
			list, from := part.List(i), i*part.Length
			m := len(list)
			if m > end-at {
				return nil, shard, fmt.Errorf("%w: a list longer than the codebook says", errAnswer)
			}
			copy(out.IDs[at:], list)
			if encoding == wire.Int8 {
				copy(out.Compact.Anchors[at:], part.Compact.Anchors[from:from+m])
				copy(out.Compact.Steps[at:], part.Compact.Steps[from:from+m])
				copy(out.Compact.Codes[at*d:], part.Compact.Codes[from*d:(from+m)*d])
			} else {
				copy(out.Rows[at*d:], part.Rows[from*d:(from+m)*d])
			}
			at += m
		}
	}
	return out, 0, nil
}
