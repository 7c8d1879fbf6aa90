package server

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// OpenCells opens a gallery that Save has written: the same codebook, so that no client pays
// again, and the same answers, byte for byte. All of the file is read into memory, and its
// checksums are compared: damage is found before the first answer, what becomes of the file later
// changes no answer, and the time of an answer does not tell whether the same cell was asked for
// earlier. Whoever opens a gallery calls Close, which gives the memory back.
//
// Errors match formats.ErrUnsupported for a file that is no gallery, or one of another version,
// formats.ErrFormat for one that was truncated or changed, or are that of ctx and those of the
// system.
func OpenCells(ctx context.Context, path string) (*Cells, error) {
	return openFile(ctx, path, fileKind)
}

// OpenShard opens a shard that Save has written, as OpenCells opens a gallery.
func OpenShard(ctx context.Context, path string) (*Cells, error) {
	return openFile(ctx, path, shardKind)
}

// openFile opens a file of a kind.
func openFile(ctx context.Context, path, kind string) (*Cells, error) {
	file, err := sections.Load(ctx, path, kind)
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	c := &Cells{file: file}
	if err := c.open(); err != nil {
		return nil, fmt.Errorf("server: %w", errors.Join(err, file.Close()))
	}
	return c, nil
}

// open sets c to what its file has. Parts are checked against the codebook, in the order in
// which they need each other.
func (c *Cells) open() error {
	if err := c.file.CheckVersion(fileVersion); err != nil {
		return err
	}
	for _, read := range []func() error{c.openCodebook, c.openFacts, c.openBases, c.openLists, c.openGallery, c.openRows, c.openAnswers} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// damaged reports a section that does not go with the others.
func damaged(section, format string, args ...any) error {
	return fmt.Errorf("%w: section %q: %s", sections.ErrDamaged, section, fmt.Sprintf(format, args...))
}

func (c *Cells) openCodebook() (err error) {
	if err := c.file.Message(sectionCodebook, &c.book); err != nil {
		return err
	}
	c.hash, err = c.book.Hash()
	return err
}

func (c *Cells) openFacts() error {
	var facts fileFacts
	if err := c.file.JSON(sectionFacts, &facts); err != nil {
		return err
	}
	if facts.Displaced < 0 || facts.Displaced > c.book.Rows || len(facts.Source) > maxSource {
		return damaged(sectionFacts, "%d displaced of %d rows, and a source of %d bytes", facts.Displaced, c.book.Rows, len(facts.Source))
	}
	c.displaced, c.source = facts.Displaced, facts.Source
	if err := c.openShard(&facts); err != nil {
		return err
	}
	if !c.file.Has(sectionMap) {
		return nil
	}
	var err error
	c.published, err = c.file.Bytes(sectionMap)
	return err
}

func (c *Cells) openBases() error {
	for encoding, section := range sectionBase {
		base := new(wire.Base)
		if err := c.file.Message(section, base); err != nil {
			return err
		}
		n := len(base.IDs)
		if base.Encoding != wire.Encoding(encoding) || base.Codebook != c.hash || base.Dimension != c.book.Ranking ||
			n < 1 || int(base.IDs[n-1]) >= c.book.Rows {
			return damaged(section, "it does not belong to the codebook")
		}
		c.bases[encoding] = base
	}
	if !slices.Equal(c.bases[wire.Float32].IDs, c.bases[wire.Int8].IDs) {
		return damaged(sectionBase[wire.Int8], "other rows than those of %s", wire.Float32)
	}
	return nil
}

// openLists reads the lists, whose every number is looked at: answers take them for numbers
// of rows.
func (c *Cells) openLists() error {
	lengths, err := sections.Numbers[uint32](c.file, sectionLengths)
	if err != nil {
		return err
	}
	all, err := sections.Numbers[uint32](c.file, sectionLists)
	if err != nil {
		return err
	}
	if len(lengths) != c.book.Cells() {
		return damaged(sectionLengths, "%d lists of %d cells", len(lengths), c.book.Cells())
	}
	longest := 0
	for cell, length := range lengths {
		if uint64(length) > uint64(min(len(all), c.shard.Length)) {
			return damaged(sectionLengths, "list %d has %d rows, at most %d are there", cell, length, min(len(all), c.shard.Length))
		}
		list := all[:length:length]
		for i, row := range list {
			if !c.shard.Has(row) || i > 0 && row <= list[i-1] {
				return damaged(sectionLists, "list %d does not rise from %d to below %d", cell, c.shard.First, c.shard.First+c.shard.Rows)
			}
		}
		c.lists, all = append(c.lists, list), all[length:]
		longest = max(longest, int(length))
	}
	if len(all) > 0 || longest != c.shard.Length {
		return damaged(sectionLists, "%d rows are left, and the longest list has %d of %d", len(all), longest, c.shard.Length)
	}
	return nil
}

func (c *Cells) openGallery() (err error) {
	if c.gallery, err = c.file.Raw(sectionGallery); err != nil {
		return err
	}
	if c.view, err = wire.ViewRows(c.gallery); err != nil {
		return fmt.Errorf("%w: section %q: %w", sections.ErrDamaged, sectionGallery, err)
	}
	if c.view.Codebook() != c.hash || c.view.Rows() != c.shard.Rows || c.view.Dimension() != c.book.Ranking {
		return damaged(sectionGallery, "it does not belong to the codebook")
	}
	c.view = c.view.From(uint32(c.shard.First))
	return nil
}

func (c *Cells) openRows() (err error) {
	if c.rows, err = sections.Numbers[float32](c.file, sectionRows); err != nil {
		return err
	}
	if int64(len(c.rows)) != int64(c.shard.Rows)*int64(c.book.Ranking) {
		return damaged(sectionRows, "%d numbers for %d rows of dimension %d", len(c.rows), c.shard.Rows, c.book.Ranking)
	}
	return nil
}

// openAnswers takes the encoded answers of both encodings, or none, as Save writes them.
func (c *Cells) openAnswers() error {
	there := c.file.Has(sectionAnswers[wire.Float32])
	if there != c.file.Has(sectionAnswers[wire.Int8]) {
		return damaged(sectionAnswers[wire.Int8], "answers of one encoding alone")
	}
	if !there {
		return nil
	}
	if c.book.Size > 1 {
		return damaged(sectionAnswers[wire.Float32], "requests name %d cells, and answers are of one", c.book.Size)
	}
	for encoding, section := range sectionAnswers {
		all, err := c.file.Raw(section)
		if err != nil {
			return err
		}
		if want := int64(len(c.lists)) * c.AnswerBytes(wire.Encoding(encoding)); int64(len(all)) != want {
			return damaged(section, "%d bytes, want %d", len(all), want)
		}
		c.encoded[encoding] = all
	}
	return nil
}
