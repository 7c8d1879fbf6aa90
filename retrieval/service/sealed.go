package service

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/passes"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// serveManifest answers the manifest of the sealed gallery.
func (s *Service) serveManifest(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, epochPart, func(v *version) (message, *problem) { return v.sealed.manifest, nil })
}

// serveHint answers the hint of the sealed gallery as it is now.
func (s *Service) serveHint(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, epochPart, func(v *version) (message, *problem) { return v.sealed.at(&v.sealed.hint) })
}

// serveIDs answers the row numbers of the sealed gallery as it is now.
func (s *Service) serveIDs(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, epochPart, func(v *version) (message, *problem) { return v.sealed.at(&v.sealed.ids) })
}

// at returns a message of the gallery as it is now.
func (p *sealedPart) at(g *growing) (message, *problem) {
	m, err := g.at(p.gallery.Version())
	if err != nil {
		return m, failed()
	}
	return m, nil
}

// serveRecordsManifest answers the manifest of the records.
func (s *Service) serveRecordsManifest(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, recordsEpoch, func(v *version) (message, *problem) { return v.records.manifest, nil })
}

// serveRecordsHint answers the hint of the records.
func (s *Service) serveRecordsHint(w *answer, r *http.Request) *problem {
	return s.serveMessage(w, r, frameType, recordsEpoch, func(v *version) (message, *problem) {
		m, err := v.records.hint()
		if err != nil {
			return m, failed()
		}
		return m, nil
	})
}

// serveChanges answers what differs between two versions of the sealed gallery.
func (s *Service) serveChanges(w *answer, r *http.Request) *problem {
	named, p := keyOf(r, epochPart)
	if p != nil {
		return p
	}
	since, p := versionOf(r, "since")
	if p != nil {
		return p
	}
	to, p := versionOf(r, "to")
	if p != nil {
		return p
	}
	v, p := s.take(named)
	if p != nil {
		return p
	}
	defer s.give(v)
	if p := v.offers(epochPart); p != nil {
		return p
	}
	// They may be as long as a hint, and each client has its own.
	if !s.changes.enter(r.Context(), w.client, 1) {
		return busy()
	}
	defer s.changes.leave(w.client, 1)
	changes, err := v.sealed.gallery.Changes(since, to)
	if err != nil {
		return gone()
	}
	return writeAnswer(w, changes)
}

// versionOf reads the number of a version from the query of a request.
func versionOf(r *http.Request, name string) (uint64, *problem) {
	n, err := strconv.ParseUint(r.URL.Query().Get(name), 10, 64)
	if err != nil {
		return 0, badParameter(name + " is the number of a version")
	}
	return n, nil
}

// serveAsk scores a query that nobody here can read. What is computed is the same for every
// request of an epoch, and so is the length of the answer. The time is that of the pass,
// which does not look at what the words are.
func (s *Service) serveAsk(w *answer, r *http.Request) *problem {
	return s.serveSealed(w, r, epochPart, func(v *version) *passes.Shared { return v.sealed.shared })
}

// serveFetch answers records that nobody here can tell apart.
func (s *Service) serveFetch(w *answer, r *http.Request) *problem {
	return s.serveSealed(w, r, recordsEpoch, func(v *version) *passes.Shared { return v.records.shared })
}

// serveSealed answers ciphertexts about a part. of returns who answers them.
func (s *Service) serveSealed(w *answer, r *http.Request, part part, of func(*version) *passes.Shared) *problem {
	limit, p := s.longest(part)
	if p != nil {
		return p
	}
	// Bodies are long. One is read when there is a place for its request and room for all of it,
	// so that a request that is refused costs its head. A client that sends slowly takes of its
	// own share.
	length, p := bodyLength(r, limit)
	if p != nil {
		return p
	}
	places := s.passes[part]
	if !places.enter(r.Context(), w.client, 1) {
		return busy()
	}
	defer places.leave(w.client, 1)
	if !s.bodies.enter(r.Context(), w.client, length) {
		return busy()
	}
	defer s.bodies.leave(w.client, length)
	var request wire.SealedRequest
	if p := s.readFrame(w, r, limit, request.Adopt); p != nil {
		return p
	}
	v, p := s.take(&key{part, request.Epoch})
	if p != nil {
		return p
	}
	defer s.give(v)
	out, err := of(v).Answer(r.Context(), &request)
	switch {
	case err == nil:
		return writeAnswer(w, out)
	case r.Context().Err() != nil:
		panic(http.ErrAbortHandler) // the client is gone
	case errors.Is(err, passes.ErrBusy), errors.Is(err, sealedserver.ErrMemory):
		return busy()
	case errors.Is(err, sealedserver.ErrQuestion), errors.Is(err, sealedserver.ErrEpoch):
		return unanswerable("a request has as many ciphertexts, columns and bytes as the manifest says")
	}
	return failed()
}

// writeAnswer sends a message that belongs to one client.
func writeAnswer(w *answer, m interface{ MarshalBinary() ([]byte, error) }) *problem {
	frame, err := m.MarshalBinary()
	if err != nil {
		return failed()
	}
	announce(w.Header(), int64(len(frame)))
	if _, err := w.Write(frame); err != nil {
		panic(http.ErrAbortHandler) // the client has part of an answer, or is gone
	}
	return nil
}
