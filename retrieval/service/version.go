package service

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// An Offer is what a service answers from. It has Cells, or Sealed, or both, or a Source alone.
type Offer struct {
	// Name is shown to clients.
	Name string
	// Cells answer in the modes cells and all; nil where these are not offered. A shard
	// answers front ends, and offers no mode to clients.
	Cells *server.Cells
	// Source answers in the modes cells and all from rows that are elsewhere; nil for none.
	Source Source
	// Sealed answers in mode sealed; nil where that is not offered.
	Sealed *sealedserver.Gallery
	// Records are fetched without saying which, with Sealed alone; nil where there are none.
	Records *sealedserver.Records
	// Map is the JSON form of the map that takes features into the space of the gallery; nil
	// means that of Cells or Sealed. Where they have none, rows are as they are. With Sealed
	// it is the one whose hash its manifest has.
	Map []byte
	// Labels are the classes of all rows, for clients that want to tell those of their queries; nil
	// where they are not published. Everybody who is let in may have them.
	Labels *wire.Labels
}

// A message is a body that many requests get.
type message struct {
	bytes   []byte
	content *Content // where the bytes are elsewhere
	hash    string   // SHA-256, in hexadecimal digits
}

func newMessage(b []byte) message {
	sum := sha256.Sum256(b)
	return message{bytes: b, hash: hex.EncodeToString(sum[:])}
}

// elsewhere returns the message of a content.
func elsewhere(c Content) message { return message{content: &c, hash: hex.EncodeToString(c.Hash[:])} }

func (m *message) length() int64 {
	if m.content != nil {
		return m.content.Length
	}
	return int64(len(m.bytes))
}

// A version is a gallery as it was published, with its messages.
type version struct {
	gallery Offer
	since   time.Time
	says    description
	about   message      // says, as JSON
	chart   message      // the map
	labels  message      // of the rows
	cells   *cellsPart   // nil where the gallery has no cells
	sealed  *sealedPart  // nil where mode sealed is not offered
	records *recordsPart // nil where there are no records

	// These belong to the Service and its lock.
	users   int  // requests that run
	retired bool // requests come no more
}

// newVersion makes the messages of a gallery.
func (s *Service) newVersion(g Offer) (v *version, err error) {
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
	}
	v = &version{since: time.Now()}
	if g.Cells != nil {
		if g.Map == nil {
			g.Map = g.Cells.Map()
		}
		if v.cells, err = newCellsPart(g.Cells); err != nil {
			return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
		}
	}
	if g.Source != nil {
		if v.cells, err = newSourcePart(g.Source); err != nil {
			return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
		}
	}
	if g.Sealed != nil {
		if g.Map == nil {
			g.Map = g.Sealed.Map()
		}
		if v.sealed, err = s.newSealedPart(g.Sealed, g.Map); err != nil {
			return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
		}
	}
	if g.Records != nil {
		if v.records, err = s.newRecordsPart(g.Records, v.sealed.epoch); err != nil {
			return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
		}
	}
	if g.Map != nil {
		if !json.Valid(g.Map) {
			return nil, fmt.Errorf("service: %w: its map is no JSON", ErrGallery)
		}
		v.chart = newMessage(g.Map)
	}
	if g.Labels != nil {
		if v.labels, err = newLabels(&g); err != nil {
			return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
		}
		g.Labels = nil // the message has them
	}
	v.gallery = g
	v.says = v.describe()
	about, err := json.MarshalIndent(v.says, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
	}
	v.about = newMessage(append(about, '\n'))
	return v, nil
}

// newLabels makes the message with the labels of a gallery.
func newLabels(g *Offer) (m message, err error) {
	rows := 0
	switch {
	case g.Cells != nil && g.Cells.Shard() != nil:
		return m, errors.New("it is a shard, and labels are for clients: a front end has them")
	case g.Source != nil:
		rows = g.Source.Codebook().Rows
	case g.Cells != nil:
		rows = g.Cells.Codebook().Rows
	default:
		rows = g.Sealed.Rows()
	}
	if err := g.Labels.Check(rows); err != nil {
		return m, err
	}
	if n := len(g.Labels.Labels); n != rows {
		return m, fmt.Errorf("%d labels for %d rows", n, rows)
	}
	text, err := json.Marshal(g.Labels)
	return newMessage(text), err
}

// check refuses a gallery that lacks something.
func (g *Offer) check() error {
	switch {
	case g.Source != nil && (g.Cells != nil || g.Sealed != nil || g.Records != nil):
		return errors.New("it has a source, and something else")
	case g.Source != nil:
		return nil
	case g.Cells != nil && g.Cells.Shard() != nil && g.Sealed != nil:
		return errors.New("it is a shard, which answers front ends in mode cells alone")
	case g.Cells == nil && g.Sealed == nil:
		return errors.New("it has neither cells nor a sealed gallery")
	case g.Records != nil && g.Sealed == nil:
		return errors.New("it has records without a sealed gallery, to whose rows they belong")
	}
	return nil
}

// shares reports whether two galleries have a part in common, which both would close.
func (g *Offer) shares(o *Offer) bool {
	return g.Cells != nil && g.Cells == o.Cells || g.Sealed != nil && g.Sealed == o.Sealed || g.Records != nil && g.Records == o.Records
}

// close gives back what the gallery holds.
func (v *version) close() error {
	var errs []error
	g := &v.gallery
	if g.Cells != nil {
		errs = append(errs, g.Cells.Close())
	}
	if g.Sealed != nil {
		v.sealed.shared.Close()
		errs = append(errs, g.Sealed.Close())
	}
	if g.Records != nil {
		v.records.shared.Close()
		errs = append(errs, g.Records.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return errors.Join(fmt.Errorf("service: gallery %s", g.Name), err)
	}
	return nil
}
