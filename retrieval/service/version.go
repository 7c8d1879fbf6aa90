package service

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Gallery is what a service answers from.
type Gallery struct {
	// Name is shown to clients.
	Name string
	// Cells answer in the modes cells and take-all.
	Cells *server.Cells
	// Map is the JSON form of the map that takes features into the space of the cells; nil
	// means that of Cells. Where both have none, rows are as they are.
	Map []byte
	// Aligned answers questions of Algorithm 1; nil where that is not offered.
	Aligned *server.Paper
}

// A message is a body that many requests get.
type message struct {
	bytes []byte
	etag  string
}

func newMessage(b []byte) message {
	sum := sha256.Sum256(b)
	return message{b, `"` + hex.EncodeToString(sum[:]) + `"`}
}

// A version is a gallery as it was published, with its messages.
type version struct {
	gallery  Gallery
	hash     wire.Hash
	since    time.Time
	says     description
	about    message // says, as JSON
	codebook message
	request  int64     // bytes of a request of mode cells
	bases    []message // one a form
	chart    message   // the map
	// rows is made when it is first asked for: the hash of a long message takes a while.
	rows func() message

	// These belong to the Service and its lock.
	users   int  // requests that run
	retired bool // requests come no more
}

// newVersion makes the messages of a gallery.
func newVersion(g Gallery) (*version, error) {
	if g.Cells == nil {
		return nil, fmt.Errorf("service: %w: it has no cells", ErrGallery)
	}
	if g.Map == nil {
		g.Map = g.Cells.Map()
	}
	if g.Map != nil && !json.Valid(g.Map) {
		return nil, fmt.Errorf("service: %w: its map is no JSON", ErrGallery)
	}
	book := g.Cells.Codebook()
	frame, err := book.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("service: %w: codebook: %w", ErrGallery, err)
	}
	v := &version{gallery: g, hash: wire.Hash(frame[len(frame)-len(wire.Hash{}):]), since: time.Now(), codebook: newMessage(frame)}
	// Any cells will do: requests of one codebook have one length.
	request := wire.CellsRequest{Cells: make([]uint32, book.Size)}
	for i := range request.Cells {
		request.Cells[i] = uint32(i)
	}
	if frame, err = request.MarshalBinary(); err != nil {
		return nil, fmt.Errorf("service: %w: request: %w", ErrGallery, err)
	}
	v.request = int64(len(frame))
	for _, f := range forms {
		base, err := g.Cells.Base(f).MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("service: %w: base: %w", ErrGallery, err)
		}
		v.bases = append(v.bases, newMessage(base))
	}
	if g.Map != nil {
		v.chart = newMessage(g.Map)
	}
	v.rows = sync.OnceValue(func() message { return newMessage(g.Cells.GalleryFrame()) })
	v.says = v.describe()
	about, err := json.MarshalIndent(v.says, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("service: %w: %w", ErrGallery, err)
	}
	v.about = newMessage(append(about, '\n'))
	return v, nil
}

// forms are those that rows travel in.
var forms = []wire.Form{wire.Float32, wire.Int8}

// description is what GET /v1/gallery answers.
type description struct {
	Name     string     `json:"name"`
	Version  uint64     `json:"version"`
	Codebook string     `json:"codebook"` // its hash, in hexadecimal digits
	Rows     int        `json:"rows"`
	Cells    int        `json:"cells"`
	Size     int        `json:"size"`   // cells that a request names
	Length   int        `json:"length"` // rows of a list, padding among them
	Space    dimensions `json:"dimensions"`
	Forms    []string   `json:"forms"`
	Modes    []string   `json:"modes"`
	Bytes    lengths    `json:"bytes"`
}

// dimensions are those of the centres and of the rows that are ranked.
type dimensions struct {
	Cells int `json:"cells"`
	Rows  int `json:"rows"`
}

// lengths are the bytes of messages; those of base and answer by form.
type lengths struct {
	Codebook int              `json:"codebook"`
	Base     map[string]int64 `json:"base"`
	Answer   map[string]int64 `json:"answer"`
	Rows     int64            `json:"rows"`
	Map      int              `json:"map"` // 0 where there is none
}

func (v *version) describe() description {
	book := v.gallery.Cells.Codebook()
	d := description{
		Name: v.gallery.Name, Version: book.Version, Codebook: v.hexHash(),
		Rows: book.Rows, Cells: book.Cells(), Size: book.Size, Length: book.Length,
		Space: dimensions{book.Dimension, book.Ranking}, Modes: []string{"cells", "take-all"},
		Bytes: lengths{
			Codebook: len(v.codebook.bytes), Base: map[string]int64{}, Answer: map[string]int64{},
			Rows: book.GalleryBytes(), Map: len(v.chart.bytes),
		},
	}
	for i, f := range forms {
		d.Forms = append(d.Forms, f.String())
		d.Bytes.Base[f.String()] = int64(len(v.bases[i].bytes))
		d.Bytes.Answer[f.String()] = book.AnswerBytes(f)
	}
	if v.gallery.Aligned != nil {
		d.Modes = append(d.Modes, "aligned")
	}
	return d
}

func (v *version) hexHash() string { return hex.EncodeToString(v.hash[:]) }

// stale is the answer to a request that goes with another codebook.
func (v *version) stale() *problem {
	p := newProblem(409, "stale-codebook", "The request goes with a codebook that is not served any more",
		"the gallery was replaced: a query under the new codebook is a new release and spends epsilon again")
	p.Codebook, p.Version = v.says.Codebook, v.says.Version
	return p
}

// close gives back what the gallery holds.
func (v *version) close() error {
	if err := v.gallery.Cells.Close(); err != nil {
		return errors.Join(fmt.Errorf("service: gallery %s", v.gallery.Name), err)
	}
	return nil
}
