package remote

import (
	"bytes"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Messages that are whole and do not go with the codebook are refused before they are kept:
// once the server is right, so is the client.
func TestNothingWrongIsKept(t *testing.T) {
	g := newThings(t, 1)
	bent := *g
	frame := func(m interface{ MarshalBinary() ([]byte, error) }) []byte {
		t.Helper()
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	bent.base = frame(&wire.Base{Codebook: g.hash, Dimension: 2, IDs: []uint32{3, fixtureRows}, Rows: []float32{1, 2, 3, 4}})
	var gallery wire.AllRows
	if err := gallery.UnmarshalBinary(bytes.Clone(g.rows)); err != nil {
		t.Fatal(err)
	}
	gallery.Rows.Anchors[7] = limits.Turns // of one anchor
	bent.rows = frame(&gallery)
	bent.chart = []byte(`{"dim":3}`)
	folder := t.TempDir()
	s := reach(t, &bent, Settings{Cache: folder})
	for _, c := range calls() {
		err := c.do(t.Context(), s.Server, g)
		switch c.name {
		case "base", "rows":
			if !errors.Is(err, ErrResponse) || !errors.Is(err, client.ErrAnswer) {
				t.Errorf("%s: %v", c.name, err)
			}
		case "map":
			if !errors.Is(err, ErrResponse) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
	if _, err := reach(t, g, Settings{Cache: folder, Codebook: g.hash}).Base(t.Context(), g.hash, wire.Int8); !errors.Is(err, ErrResponse) {
		t.Errorf("a base of another encoding: %v", err)
	}
	right := reach(t, g, Settings{Cache: folder})
	for _, c := range calls() {
		if err := c.do(t.Context(), right.Server, g); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if len(right.warnings) > 0 {
		t.Errorf("something was kept: %v", right.warnings)
	}
}

// A server that brings much and then takes it back is not asked for ever.
func TestProgressThatIsTakenBack(t *testing.T) {
	g := newThings(t, 1)
	var tries atomic.Int64
	s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) > 100 {
			g.ServeHTTP(w, r) // so that the test ends
			return
		}
		if r.Header.Get("Range") != "" {
			w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			return
		}
		(&cutting{g, 3 * pace}).ServeHTTP(w, r)
	}), Settings{})
	s.books.add(g.hash, g.book)
	_, err := s.Gallery(t.Context(), g.hash)
	if n := tries.Load(); err == nil || n != defaultTries {
		t.Errorf("%d tries, %v", n, err)
	}
}
