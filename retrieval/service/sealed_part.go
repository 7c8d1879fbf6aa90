package service

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/passes"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A sealedPart is what a version has of mode sealed. Its gallery may grow while it is served.
type sealedPart struct {
	gallery   *sealedserver.Gallery
	shared    *passes.Shared
	sizes     *wire.SealedManifest // the manifest
	epoch     wire.Hash
	manifest  message
	hint, ids growing
}

// newSealedPart makes the messages of a sealed gallery. chart is the map that is served with it.
func (s *Service) newSealedPart(g *sealedserver.Gallery, chart []byte) (*sealedPart, error) {
	p := &sealedPart{gallery: g, sizes: g.Manifest()}
	frame, err := p.sizes.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	p.epoch, p.manifest = hashOf(frame), newMessage(frame)
	var sum wire.Hash
	if chart != nil {
		sum = sha256.Sum256(chart)
	}
	if sum != p.sizes.Map {
		return nil, errors.New("its map is not the one of the sealed gallery: clients that confirm the epoch would refuse it")
	}
	p.hint.make = func() (uint64, []byte, error) {
		hint := g.Hint()
		frame, err := hint.MarshalBinary()
		return hint.Version, frame, err
	}
	p.ids.make = func() (uint64, []byte, error) {
		ids := g.IDs()
		frame, err := ids.MarshalBinary()
		return ids.Version, frame, err
	}
	p.shared = passes.New(g, s.sharedSettings(&s.metrics.galleryPasses))
	return p, nil
}

// sharedSettings say how many requests share a pass, and count passes.
func (s *Service) sharedSettings(counts *passCounts) passes.Settings {
	return passes.Settings{Most: s.settings.SealedMost, Wait: s.settings.SealedWait, Queue: s.settings.SealedQueue, Observe: counts.add}
}

// A recordsPart is what a version has of the records that are fetched.
type recordsPart struct {
	records  *sealedserver.Records
	shared   *passes.Shared
	sizes    *wire.SealedRecords // the manifest
	epoch    wire.Hash
	manifest message
	hint     func() (message, error) // made when it is first asked for
}

// newRecordsPart makes the messages of records, which belong to the epoch of a gallery.
func (s *Service) newRecordsPart(r *sealedserver.Records, gallery wire.Hash) (*recordsPart, error) {
	p := &recordsPart{records: r, sizes: r.Manifest()}
	if p.sizes.Gallery != gallery {
		return nil, errors.New("its records belong to another epoch of the gallery")
	}
	frame, err := p.sizes.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("manifest of records: %w", err)
	}
	p.epoch, p.manifest = hashOf(frame), newMessage(frame)
	p.hint = sync.OnceValues(func() (message, error) {
		frame, err := r.Hint().MarshalBinary()
		if err != nil {
			return message{}, err
		}
		return newMessage(frame), nil
	})
	p.shared = passes.New(r, s.sharedSettings(&s.metrics.recordPasses))
	return p, nil
}

// A growing message is made again when its gallery has another version.
type growing struct {
	make func() (version uint64, frame []byte, err error)

	mu      sync.Mutex
	version uint64
	message message // without bytes before the first one was asked for
}

// at returns the message of a version, or of a later one.
func (g *growing) at(version uint64) (message, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.message.bytes != nil && g.version >= version {
		return g.message, nil
	}
	made, frame, err := g.make()
	if err != nil {
		return message{}, err
	}
	g.version, g.message = made, newMessage(frame)
	return g.message, nil
}
