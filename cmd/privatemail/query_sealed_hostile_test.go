package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A server that was set back to an earlier version of its epoch: what the cache has of a later
// one is of no use, and the client takes the hint again.
func TestQueryAfterServerWentBack(t *testing.T) {
	for _, lost := range []string{"none", "ids", "hint"} { // of the cache
		testServerWentBack(t, lost)
	}
}

func testServerWentBack(t *testing.T, lost string) {
	t.Helper()
	settings := sealedserver.Settings{Cells: 6, Probes: 2}
	s := startSealed(t, settings)
	p := newPlace(t, 3)
	for range 3 {
		if _, err := s.gallery.Insert(s.rows.Data[:6], 600); err != nil {
			t.Fatal(err)
		}
	}
	succeed(t, p.sealed(s.address)...)
	paths, err := filepath.Glob(filepath.Join(p.cache, "*"+lost+"*"))
	if err != nil || (len(paths) != 1) != (lost == "none") {
		t.Fatal(lost, paths, err)
	}
	for _, file := range paths {
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	epoch := s.gallery.Epoch()
	s.publish(t, settings)
	if s.gallery.Epoch() != epoch || s.gallery.Version() != 0 {
		t.Fatal("another epoch")
	}
	for range 2 {
		stdout, _ := succeed(t, p.sealed(s.address, "-json")...)
		s.wantExact(t, p, stdout)
	}
}

// A server that names versions nobody has: a row is asked for five times at the most, and what is
// sent does not depend on the row.
func TestQueryEndsWithWildVersions(t *testing.T) {
	for name, wild := range map[string]func(asked uint64) uint64{
		"before all":  func(uint64) uint64 { return 0 },
		"far ahead":   func(uint64) uint64 { return 1 << 60 },
		"ever higher": func(asked uint64) uint64 { return 1 << (asked % 64) },
	} {
		s := startSealed(t, sealedserver.Settings{Cells: 6, Probes: 2})
		if _, err := s.gallery.Insert(s.rows.Data[:6], 600); err != nil {
			t.Fatal(err)
		}
		p := newPlace(t, 1)
		asked := uint64(1)
		s.instead = func(w http.ResponseWriter, r *http.Request) bool {
			recorder := httptest.NewRecorder()
			s.Public().ServeHTTP(recorder, r)
			var answer wire.SealedAnswer
			if err := answer.UnmarshalBinary(recorder.Body.Bytes()); err != nil {
				t.Error(err)
			}
			answer.Version = wild(asked)
			asked++
			frame, err := answer.MarshalBinary()
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Length", strconv.Itoa(len(frame)))
			w.Write(frame)
			return true
		}
		refuse(t, cli.Failed, p.sealed(s.address), "")
		if _, bodies := s.sent(t); len(bodies) < 1 || len(bodies) > 5 {
			t.Errorf("%s: asked %d times", name, len(bodies))
		}
	}
}
