package remote

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A Description is what a server says of its gallery. Nothing in it is confirmed.
type Description struct {
	Name    string // one line
	Version uint64
	// BaseBytes, MapBytes and LabelBytes are lengths of what a client takes once: of the base sample
	// by encoding, of the map, and of the labels of all rows, 0 where there is none.
	BaseBytes            map[wire.Encoding]int64
	MapBytes, LabelBytes int64
}

const mostDescription = 1 << 16

// Describe asks what a server serves, which says nothing about a query. Errors are those of
// Codebook.
func (s *Server) Describe(ctx context.Context) (*Description, error) {
	var d Description
	o := &order{what: "description", path: "/v1/gallery", asked: s.settings.Codebook, most: mostDescription, check: func(body []byte) error {
		var err error
		d, err = readDescription(body)
		return err
	}}
	switch epoch := s.settings.Epoch; {
	case o.asked != wire.Hash{}:
		o.query = ofCodebook(o.asked)
	case epoch != wire.Hash{}:
		o.asked, o.query = epoch, ofEpoch(epoch)
	}
	if err := s.fetch(ctx, o, new(received)); err != nil {
		return nil, err
	}
	return &d, nil
}

// readDescription reads the JSON form. Invalid lengths are refused.
func readDescription(body []byte) (d Description, err error) {
	var in struct {
		Name    string `json:"name"`
		Version uint64 `json:"version"`
		Bytes   struct {
			Base   map[string]int64 `json:"base"`
			Map    int64            `json:"map"`
			Labels int64            `json:"labels"`
		} `json:"bytes"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return d, errors.New("it is no description of a gallery")
	}
	d = Description{Name: oneLine(in.Name), Version: in.Version, BaseBytes: map[wire.Encoding]int64{}, MapBytes: in.Bytes.Map, LabelBytes: in.Bytes.Labels}
	for name, bytes := range in.Bytes.Base {
		encoding, err := wire.ParseEncoding(name)
		if err != nil {
			continue // one that this program does not ask for
		}
		if bytes < 0 {
			return Description{}, errors.New("it has a negative length")
		}
		d.BaseBytes[encoding] = bytes
	}
	if d.MapBytes < 0 || d.LabelBytes < 0 {
		return Description{}, errors.New("it has a negative length")
	}
	return d, nil
}

// Cached returns the bytes of what the cache holds for a codebook: its map, its base sample
// in an encoding, and all rows. Each is -1 where the cache does not hold it. The files are not
// read, so that one may turn out to be damaged.
func (s *Server) Cached(codebook wire.Hash, encoding wire.Encoding) (chart, base, rows int64) {
	return s.cache.holds(codebook, mapName), s.cache.holds(codebook, baseName(encoding)), s.cache.holds(codebook, rowsName)
}

// CachedCodebook reports whether a codebook is here already, so that Codebook sends nothing.
func (s *Server) CachedCodebook(codebook wire.Hash) bool {
	_, err := s.known(codebook)
	return err == nil
}

// CachedSealed returns the bytes of what the cache holds for an epoch: its map, its hint and
// its row numbers, as Cached does.
func (s *Server) CachedSealed(epoch wire.Hash) (chart, hint, ids int64) {
	return s.cache.holds(epoch, sealedMapName), s.cache.holds(epoch, hintName), s.cache.holds(epoch, idsName)
}

// CachedManifest reports whether the manifest of an epoch is here already, so that
// SealedManifest sends nothing.
func (s *Server) CachedManifest(epoch wire.Hash) bool {
	_, err := s.manifest(epoch)
	return err == nil
}

// CachedRecords returns the bytes of the hint of records that the cache holds, as Cached does.
func (s *Server) CachedRecords(epoch wire.Hash) int64 { return s.cache.holds(epoch, recordsHintName) }
