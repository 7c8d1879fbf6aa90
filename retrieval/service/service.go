package service

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// maxVersions is how many versions of a gallery are answered from at a time. Each may hold
// as much memory as the gallery.
const maxVersions = 4

// A Service answers requests about one gallery, which can be replaced. It is safe for
// concurrent use.
type Service struct {
	settings Settings
	metrics  *metrics
	places   *room                // for requests, one each
	refusals *room                // for answers to refused requests, by address
	changes  *room                // for requests for changes of a sealed gallery
	passes   [parts]*room         // for requests of mode sealed; nil for the codebook
	bodies   *room                // for the bytes of requests of mode sealed
	rates    *rates               // nil without a limit
	stopping atomic.Bool          // not ready any more
	public   atomic.Pointer[gate] // the listener; nil before Run

	mu       sync.Mutex
	versions []*version   // that are served, the newest first
	lengths  [parts]int64 // of the longest requests about each part, of all versions there were
	closed   bool         // nothing is published any more
}

// New returns a service without a gallery, which is not ready. The error is ErrSettings.
func New(settings Settings) (*Service, error) {
	settings, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Service{
		settings: settings, metrics: newMetrics(),
		places: newRoom(int64(settings.MaxRequests), settings.Share), refusals: newRoom(int64(max(mostRefusals, settings.MaxConnections)), settings.Share),
		changes: newRoom(int64(settings.SealedMost), settings.Share), bodies: newRoom(settings.SealedBytes, settings.Share),
	}
	for _, p := range []part{epochPart, recordsEpoch} {
		s.passes[p] = newRoom(int64(settings.SealedQueue), settings.Share)
	}
	if settings.Rate > 0 {
		s.rates = newRates(settings.Rate, settings.Burst)
	}
	return s, nil
}

// Publish makes g the gallery that is served. The service owns g.Cells, g.Sealed and
// g.Records from then on, and closes them when the last request of a version that is served
// no more has ended. The version before answers requests that name its codebook or epoch for
// Settings.Drain. At most four versions are kept, the newest. g.Sealed may grow meanwhile. The
// error is ErrGallery, and g stays the caller's.
func (s *Service) Publish(g Offer) error {
	v, err := s.newVersion(g)
	if err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return fmt.Errorf("service: %w: the service is closed", ErrGallery)
	}
	older := slices.Clone(s.versions)
	if slices.ContainsFunc(older, func(o *version) bool { return o.gallery.shares(&g) }) {
		s.mu.Unlock()
		return fmt.Errorf("service: %w: some of it is served already", ErrGallery)
	}
	s.versions = append([]*version{v}, older...)
	for p := range s.lengths {
		s.lengths[p] = max(s.lengths[p], v.longest(part(p)))
	}
	s.mu.Unlock()
	for i, old := range older {
		switch {
		case i >= maxVersions-1 || s.settings.Drain < 0 || v.replaces(old):
			s.retire(old)
		case i == 0:
			time.AfterFunc(s.settings.Drain, func() { s.retire(old) })
		}
	}
	s.metrics.published.Add(1)
	s.settings.Log.Info("gallery published", "name", g.Name, "version", v.says.Version, "codebook", v.says.Codebook, "epoch", v.says.epoch(), "rows", v.says.Rows)
	return nil
}

// retire ends that a version gets requests. The last one that runs closes it.
func (s *Service) retire(v *version) {
	s.mu.Lock()
	if v.retired {
		s.mu.Unlock()
		return
	}
	v.retired = true
	idle := v.users == 0
	s.versions = slices.DeleteFunc(s.versions, func(o *version) bool { return o == v })
	s.mu.Unlock()
	s.settings.Log.Info("gallery retired", "name", v.gallery.Name, "version", v.says.Version)
	if idle {
		s.drop(v)
	}
}

// drop closes a version that nobody uses.
func (s *Service) drop(v *version) {
	if err := v.close(); err != nil {
		s.settings.Log.Error("gallery not closed", "error", err)
	}
}

// take returns the newest version with a key, or the newest of all without one. Whoever
// takes a version gives it back when done.
func (s *Service) take(k *key) (*version, *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.versions) == 0 {
		return nil, notReady()
	}
	found := 0
	if k != nil {
		if found = slices.IndexFunc(s.versions, func(v *version) bool {
			hash, ok := v.hashOf(k.of)
			return ok && hash == k.hash
		}); found < 0 {
			return nil, s.versions[0].stale(k.of)
		}
	}
	v := s.versions[found]
	v.users++
	return v, nil
}

// give ends that a request uses a version.
func (s *Service) give(v *version) {
	s.mu.Lock()
	v.users--
	idle := v.retired && v.users == 0
	s.mu.Unlock()
	if idle {
		s.drop(v)
	}
}

// served returns the descriptions of all versions, the newest first.
func (s *Service) served() (all []servedVersion) {
	s.mu.Lock()
	versions := slices.Clone(s.versions)
	for _, v := range versions {
		all = append(all, servedVersion{description: v.says, Since: v.since, Users: v.users})
	}
	s.mu.Unlock()
	for i, v := range versions { // a gallery that grows may keep us waiting, and us alone
		if v.sealed != nil {
			all[i].SealedVersion = v.sealed.gallery.Version()
		}
	}
	return all
}

// A servedVersion is what the status page and the metrics say of a version.
type servedVersion struct {
	description
	Since         time.Time
	Users         int
	SealedVersion uint64 // of the gallery within its epoch
}

// longest returns the length of the longest request about a part that some version can answer,
// or could: a request that goes with a version that is gone is told so, and not that it is long.
func (s *Service) longest(p part) (int64, *problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.versions) == 0 {
		return 0, notReady()
	}
	if !slices.ContainsFunc(s.versions, func(v *version) bool { return v.offers(p) == nil }) {
		return 0, s.versions[0].offers(p)
	}
	return s.lengths[p], nil
}

// Ready returns nil when the service has a gallery and does not end.
func (s *Service) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping.Load():
		return errors.New("service: it ends")
	case len(s.versions) == 0:
		return errors.New("service: there is no gallery yet")
	}
	for i, state := range s.shards() {
		if !state.Ready {
			return fmt.Errorf("service: shard %d is not ready", i+1)
		}
	}
	return nil
}

// shards returns what is known of shards, nothing where this is no front end.
func (s *Service) shards() []ShardState {
	if s.settings.Shards == nil {
		return nil
	}
	return s.settings.Shards()
}

// Close ends all versions, and nothing is published after it. Requests that still run close
// theirs when they end.
func (s *Service) Close() {
	s.stopping.Store(true)
	s.mu.Lock()
	s.closed = true
	all := slices.Clone(s.versions)
	s.mu.Unlock()
	for _, v := range all {
		s.retire(v)
	}
}
