package server

import (
	"context"
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A file of a gallery has these sections.
const (
	fileKind    = "gallery"
	shardKind   = "shard" // the same sections, with the rows of a shard
	fileVersion = 1

	sectionFacts    = "facts"        // JSON of fileFacts
	sectionCodebook = "codebook"     // a frame
	sectionMap      = "map"          // CellsSettings.Map; missing where there is none
	sectionLengths  = "list-lengths" // of each list, uint32
	sectionLists    = "lists"        // one behind the other, uint32
	sectionGallery  = "gallery"      // a frame
	sectionRows     = "rows"         // one behind the other, float32
)

// Sections of both encodings.
var (
	sectionBase    = [2]string{wire.Float32: "base.float32", wire.Int8: "base.int8"}       // a frame
	sectionAnswers = [2]string{wire.Float32: "answers.float32", wire.Int8: "answers.int8"} // frames of one length; missing where there are none
)

// fileFacts is what a file says in addition to its codebook.
type fileFacts struct {
	Source    string `json:"source,omitempty"`
	Displaced int    `json:"displaced"`
	Shard     *Shard `json:"shard,omitempty"` // of a shard
}

// Save writes the gallery to a file, for OpenCells, and a shard for OpenShard. It is written to a
// temporary name, synced and renamed; when it fails or ctx ends, a file that was there is as it was. The file has the
// rows in both encodings, 5 d + 4 bytes a row of dimension d, and the encoded answers if there are
// any, so that a server that opens it writes them as they are: at a million rows of 64 numbers
// 1 GB, most of it answers. With CellsSettings.Encoded below 0 it is a third of that, and every
// answer is gathered. Errors are ErrClosed, that of ctx, and those of the system.
func (c *Cells) Save(ctx context.Context, path string) error {
	if err := c.begin(); err != nil {
		return err
	}
	defer c.calls.End()
	kind := fileKind
	if c.Shard() != nil {
		kind = shardKind
	}
	if err := sections.Write(ctx, path, kind, fileVersion, c.save); err != nil {
		return fmt.Errorf("server: %w", err)
	}
	return nil
}

func (c *Cells) save(w *sections.Writer) error {
	if err := w.JSON(sectionFacts, fileFacts{Source: c.source, Displaced: c.displaced, Shard: c.Shard()}); err != nil {
		return err
	}
	if err := w.Message(sectionCodebook, &c.book); err != nil {
		return err
	}
	if c.published != nil {
		if err := w.Bytes(sectionMap, c.published); err != nil {
			return err
		}
	}
	for encoding, base := range c.bases {
		if err := w.Message(sectionBase[encoding], base); err != nil {
			return err
		}
	}
	lengths := make([]uint32, len(c.lists))
	for i, list := range c.lists {
		lengths[i] = uint32(len(list))
	}
	if err := sections.WriteNumbers(w, sectionLengths, lengths); err != nil {
		return err
	}
	if err := w.Section(sectionLists, c.writeLists); err != nil {
		return err
	}
	if err := sections.WriteNumbers(w, sectionGallery, c.gallery); err != nil {
		return err
	}
	if err := sections.WriteNumbers(w, sectionRows, c.rows); err != nil {
		return err
	}
	for encoding, answers := range c.encoded {
		if answers == nil {
			continue
		}
		if err := sections.WriteNumbers(w, sectionAnswers[encoding], answers); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cells) writeLists(to io.Writer) error {
	for _, list := range c.lists {
		if err := sections.PutNumbers(to, list); err != nil {
			return err
		}
	}
	return nil
}
