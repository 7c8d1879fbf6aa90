package remote

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// endless sends the beginning of a body and then zeros, as long as somebody reads.
func endless(w http.ResponseWriter, kind string, beginning []byte, announced int64) {
	w.Header().Set("Content-Type", kind)
	if announced > 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(announced, 10))
	}
	w.Write(beginning[:min(len(beginning), 256)])
	for _, err := w.Write(zeros[:]); err == nil; _, err = w.Write(zeros[:]) {
	}
}

var zeros [64 << 10]byte

// allocated returns how many bytes call takes from the heap in all, also those that it gives
// back: it never holds more than these.
func allocated(call func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// overhead is what the connections of both sides take in addition to messages.
const overhead = 8 << 20

// A server that sends without an end, or more than there is room for, does not make the client
// hold more than Memory, on any path: not even all that is ever allocated is more.
func TestEndlessServer(t *testing.T) {
	const memory = 24 << 20
	g, f := newThings(t, 1), newSealedFixture(t, 1)
	// A codebook and a manifest that allow for enormous messages.
	g.book.Rows, g.book.Length = 1<<27, 1<<22
	var err error
	if g.hash, err = g.book.Hash(); err != nil {
		t.Fatal(err)
	}
	g.request.Codebook = g.hash
	m := *f.gallery.Manifest()
	const length = 1 << 15
	m.Cells, m.Length, m.Probes, m.Rows = 1, length, 1, length
	m.Centres, m.Norms = m.Centres[:m.Dimension], make([]int16, length)
	epoch, err := m.Hash()
	if err != nil {
		t.Fatal(err)
	}
	records, err := f.records.Manifest(), error(nil)
	if err != nil {
		t.Fatal(err)
	}
	request := &wire.SealedRequest{Epoch: epoch, Count: 1, Columns: m.Columns(), Width: 3, Bytes: make([]byte, 3*m.Columns())}
	all := calls()
	sealed := func(do func(ctx context.Context, s *Server) error) func(context.Context, *Server, *things) error {
		return func(ctx context.Context, s *Server, _ *things) error {
			s.manifests.add(epoch, &m)
			return do(ctx, s)
		}
	}
	all = append(all,
		call{"manifest", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedManifest(ctx); return err })},
		call{"hint", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedHint(ctx, epoch, 0); return err })},
		call{"ids", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedIDs(ctx, epoch, 0); return err })},
		call{"changes", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedChanges(ctx, epoch, 1, 2); return err })},
		call{"sealed map", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedMap(ctx, epoch); return err })},
		call{"ask", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedAsk(ctx, request); return err })},
		call{"records", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedRecords(ctx, epoch); return err })},
		call{"hint of records", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedRecordsHint(ctx, records); return err })},
		call{"fetch", sealed(func(ctx context.Context, s *Server) error { _, err := s.SealedFetch(ctx, records, request); return err })},
	)
	for _, c := range all {
		for _, announced := range []int64{0, 1 << 20, memory, 1 << 31, 1 << 40} {
			s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, kind := g.body(r.URL.Path)
				if r.URL.Path != "/v1/map" && r.URL.Path != "/v1/gallery" {
					body, kind = g.codebook, "application/octet-stream"
				}
				endless(w, kind, body, announced)
			}), Settings{Memory: memory, Cache: t.TempDir()})
			var err error
			took := allocated(func() { err = c.do(t.Context(), s.Server, g) })
			if err == nil || took > memory+overhead {
				t.Errorf("%s, %d bytes announced: %d bytes were taken for %d: %v", c.name, announced, took, memory, err)
			}
		}
	}
}

// Everything that is taken counts together, and what there is no room for is left before it is
// taken: by its length, and by what came where no length is announced; from the cache as well.
func TestMemoryOfAServer(t *testing.T) {
	g := newThings(t, 1)
	paths := map[string]string{"base": "/v1/base", "cells": "/v1/cells", "rows": "/v1/rows", "map": "/v1/map", "gallery": "/v1/gallery"}
	for _, c := range calls()[1:] {
		body, kind := g.body(paths[c.name])
		times := int64(takenFrame)
		if kind == "application/json" {
			times = takenJSON
		}
		need := times * int64(len(body))
		folder := t.TempDir()
		for _, test := range []struct {
			memory, held int64
			length       bool
		}{{need, 0, true}, {need, 0, false}, {need - 1, 0, true}, {need - 1, 0, false}, {need + 100, 101, true}} {
			fits := test.memory-test.held >= need
			for _, cache := range []string{"", folder} {
				s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if test.length {
						g.ServeHTTP(w, r)
						return
					}
					w.Header().Set("Content-Type", kind)
					w.(http.Flusher).Flush()
					w.Write(body)
				}), Settings{Memory: test.memory, Cache: cache})
				s.memory.hold("something else", test.held)
				err := c.do(t.Context(), s.Server, g)
				if fits != (err == nil) || err != nil && !errors.Is(err, ErrTooLong) {
					t.Errorf("%s of %d bytes, %+v: %v", c.name, len(body), test, err)
				}
				if len(s.warnings) > 0 {
					t.Errorf("%s, %+v: %v", c.name, test, s.warnings)
				}
			}
		}
	}
	if _, err := New("http://127.0.0.1:1", Settings{Memory: -1}); !errors.Is(err, ErrSettings) {
		t.Error(err)
	}
}

// What a caller keeps is counted: each sort once, and codebooks as many as are known.
func TestWhatIsHeld(t *testing.T) {
	g := newThings(t, 1)
	s := reach(t, g, Settings{Memory: 1 << 30})
	want := int64(0)
	add := func(err error, bytes int) {
		t.Helper()
		want += int64(bytes)
		if held := s.memory.held(); err != nil || held != want || s.Room() != (1<<30-want)/takenFrame {
			t.Errorf("%d are held, want %d: %v", held, want, err)
		}
	}
	_, err := s.Codebook(t.Context())
	add(err, heldFrame*len(g.codebook))
	_, err = s.Base(t.Context(), g.hash, wire.Float32)
	add(err, heldFrame*len(g.base))
	_, err = s.Map(t.Context(), g.hash)
	add(err, heldJSON*len(g.chart))
	_, err = s.Gallery(t.Context(), g.hash)
	add(err, heldFrame*len(g.rows))
	_, err = s.Cells(t.Context(), g.request, wire.Float32)
	add(err, 0) // an answer is the caller's
	_, err = s.Gallery(t.Context(), g.hash)
	add(err, 0) // in the place of the one before
	for version := range uint64(mostKnown + 5) {
		next := newThings(t, version+2)
		*g = *next
		_, err = s.Codebook(t.Context())
		if version < mostKnown-1 {
			want += int64(heldFrame * len(g.codebook))
		}
		add(err, 0)
	}
	if s := reach(t, g, Settings{}); s.Room() < 1<<40 {
		t.Error("a limit without Memory")
	}
}

// What a caller keeps leaves so much less room, counts once under a name, and is refused where
// there is no room for it.
func TestHold(t *testing.T) {
	s := reach(t, newThings(t, 1), Settings{Memory: 300})
	for _, step := range []struct {
		what  string
		bytes int64
		err   error
		room  int64
	}{
		{"one", 90, nil, 70}, {"two", 90, nil, 40}, {"one", 30, nil, 60}, {"one", 210, nil, 0},
		{"two", 91, ErrTooLong, 30}, // and the 90 bytes are gone
		{"two", 0, nil, 30}, {"one", 0, nil, 100}, {"one", 301, ErrTooLong, 100},
	} {
		if err := s.Hold(step.what, step.bytes); !errors.Is(err, step.err) || s.Room() != step.room {
			t.Errorf("%+v: room for %d, %v", step, s.Room(), err)
		}
	}
	s.memory.hold("rows", 100)
	if err := s.Hold("rows", 200); err != nil || s.Room() != 0 {
		t.Errorf("a name of a message: room for %d, %v", s.Room(), err)
	}
	if err := reach(t, newThings(t, 1), Settings{}).Hold("all", 1<<60); err != nil {
		t.Error(err)
	}
}
