package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/crc"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// MaxShards is how many shards a gallery can be split into.
const MaxShards = 1024

// A Shard says which rows of a gallery a server holds, and what the whole is.
type Shard struct {
	Index, Count int // from 1 on
	First, Rows  int // the rows First to First+Rows-1
	// Length is that of all lists of the shard, padded: as many rows of the shard as its
	// fullest cell has.
	Length int
	// Whole is the SHA-256 of the binary form of the wire.AllRows with all rows, and Checksum the
	// one at its end, so that it can be put together from shards by somebody who holds no rows.
	Whole    wire.Hash
	Checksum [crc.Size]byte
}

// Ending is what the name of a file with the shard has more than that of its gallery.
func (s *Shard) Ending() string { return fmt.Sprintf(".%dof%d", s.Index, s.Count) }

// shardRows returns the first row and the number of rows that shard index of count has, of a
// gallery of n rows: shards are blocks of the gallery, one behind the other, whose sizes differ
// by one row at most.
func shardRows(n, index, count int) (first, rows int) {
	at := func(i int) int { return int(int64(n) * int64(i) / int64(count)) }
	return at(index - 1), at(index) - at(index-1)
}

// Check returns nil for a shard of the gallery of a codebook, and otherwise ErrGallery.
func (s *Shard) Check(book *wire.Codebook) error {
	if s.Count < 1 || s.Count > min(MaxShards, book.Rows) || s.Index < 1 || s.Index > s.Count {
		return fmt.Errorf("server: %w: shard %d of %d, of %d rows", ErrGallery, s.Index, s.Count, book.Rows)
	}
	if first, rows := shardRows(book.Rows, s.Index, s.Count); s.First != first || s.Rows != rows {
		return fmt.Errorf("server: %w: shard %d of %d begins at row %d and has %d, want %d and %d", ErrGallery, s.Index, s.Count, s.First+1, s.Rows, first+1, rows)
	}
	if s.Length < 1 || s.Length > min(s.Rows, book.Length) {
		return fmt.Errorf("server: %w: lists of %d rows in shard %d of %d", ErrGallery, s.Length, s.Index, s.Count)
	}
	return nil
}

// Has reports whether a row is one of the shard.
func (s *Shard) Has(row uint32) bool {
	return int64(row) >= int64(s.First) && int64(row) < int64(s.First)+int64(s.Rows)
}

// AnswerBytes returns the length of the binary form of an answer of the shard, which is the same
// for every request. It is 0 for a codebook or an encoding that is not valid.
func (s *Shard) AnswerBytes(book *wire.Codebook, encoding wire.Encoding) int64 {
	own := *book
	own.Length = s.Length
	return own.AnswerBytes(encoding)
}

// Shard returns which rows a shard has, nil for a gallery with all of them.
func (c *Cells) Shard() *Shard {
	if !c.split {
		return nil
	}
	s := c.shard
	return &s
}

// Split returns shard index of count, from 1 on: the same codebook, base sample and map, with the
// rows of shardRows and lists of these. Answers of all shards, put together, are those of c. The
// answers of a shard are encoded beforehand as CellsSettings.Encoded says, 0 for its default.
//
// A shard uses memory of c: Close of c waits until the shard was closed. A shard is not split
// again. Errors are ErrGallery, ErrClosed and that of the context.
func (c *Cells) Split(ctx context.Context, index, count int, encoded int64, workers *par.Workers) (*Cells, error) {
	if c.split {
		return nil, fmt.Errorf("server: %w: it is a shard already", ErrGallery)
	}
	if count < 1 || count > min(MaxShards, c.book.Rows) || index < 1 || index > count {
		return nil, fmt.Errorf("server: %w: shard %d of %d, want up to %d shards and no more than rows", ErrGallery, index, count, MaxShards)
	}
	release, err := c.Hold()
	if err != nil {
		return nil, err
	}
	s, err := c.newShard(ctx, index, count, encoded, workers)
	if err != nil {
		release()
		return nil, fmt.Errorf("server: %w", err)
	}
	s.release = release
	return s, nil
}

func (c *Cells) newShard(ctx context.Context, index, count int, encoded int64, workers *par.Workers) (*Cells, error) {
	c.hashing.Do(func() { c.whole = sha256.Sum256(c.gallery) })
	first, rows := shardRows(c.book.Rows, index, count)
	d := c.book.Ranking
	s := &Cells{
		book: c.book, hash: c.hash, bases: c.bases, published: c.published, source: c.source, displaced: c.displaced, split: true,
		rows:  c.rows[first*d : (first+rows)*d],
		lists: make([][]uint32, len(c.lists)),
		shard: Shard{
			Index: index, Count: count, First: first, Rows: rows,
			Whole: c.whole, Checksum: [crc.Size]byte(c.gallery[len(c.gallery)-crc.Size:]),
		},
	}
	for cell, list := range c.lists { // which rise
		from, _ := slices.BinarySearch(list, uint32(first))
		to, _ := slices.BinarySearch(list, uint32(first+rows))
		s.lists[cell] = list[from:to:to]
		s.shard.Length = max(s.shard.Length, to-from)
	}
	ids := make([]uint32, rows)
	for i := range ids {
		ids[i] = uint32(first + i)
	}
	var compact wire.Compact
	if err := c.view.Gather(&compact, ids); err != nil {
		return nil, err
	}
	if err := s.keepGallery(&compact); err != nil {
		return nil, err
	}
	if encoded == 0 {
		encoded = defaultEncoded
	}
	return s, errors.Join(s.encode(ctx, encoded, workers), ctx.Err())
}

// openShard sets which rows a file has: all, or those of a shard.
func (c *Cells) openShard(facts *fileFacts) error {
	c.split = c.file.Kind() == shardKind
	if !c.split {
		c.shard = Shard{Index: 1, Count: 1, Rows: c.book.Rows, Length: c.book.Length}
		return nil
	}
	if facts.Shard == nil {
		return damaged(sectionFacts, "it does not say which shard it is")
	}
	if err := facts.Shard.Check(&c.book); err != nil {
		return damaged(sectionFacts, "%v", err)
	}
	c.shard = *facts.Shard
	return nil
}
