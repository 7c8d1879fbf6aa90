package remote

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// things are the messages of a small gallery, as bytes.
type things struct {
	book                         *wire.Codebook
	hash                         wire.Hash
	request                      *wire.CellsRequest
	codebook, base, answer, rows []byte
	chart                        []byte // the map, as JSON
}

const fixtureRows = 30_000

// newThings makes messages that fit each other. version is that of the codebook.
func newThings(t testing.TB, version uint64) *things {
	t.Helper()
	book := &wire.Codebook{
		Version: version, Rows: fixtureRows, Size: 1, Length: 900, Dimension: 2, Ranking: 2,
		Centres: []float32{0, 0, 1, 1, 2, 2}, Scale: 1, Anchors: []float32{0, 0},
	}
	hash, err := book.Hash()
	if err != nil {
		t.Fatal(err)
	}
	base := &wire.Base{Codebook: hash, Dimension: 2, IDs: []uint32{3, 8}, Rows: []float32{1, 2, 3, 4}}
	request := &wire.CellsRequest{Codebook: hash, Cells: []uint32{1}}
	answer := &wire.CellsAnswer{Codebook: hash, Cells: []uint32{1}, Length: 900, Dimension: 2}
	for i := range uint32(900) {
		answer.IDs = append(answer.IDs, i)
		answer.Rows = append(answer.Rows, float32(i), -float32(i))
	}
	gallery := &wire.AllRows{Codebook: hash, Dimension: 2}
	for i := range fixtureRows {
		gallery.Rows.Anchors = append(gallery.Rows.Anchors, 0)
		gallery.Rows.Steps = append(gallery.Rows.Steps, uint16(i))
		gallery.Rows.Codes = append(gallery.Rows.Codes, int8(i%100), int8(-i%100))
	}
	out := &things{book: book, hash: hash, request: request, chart: []byte(`{"dim":2,"unit_rows":true}`)}
	for _, m := range []struct {
		to   *[]byte
		from interface{ MarshalBinary() ([]byte, error) }
	}{{&out.codebook, book}, {&out.base, base}, {&out.answer, answer}, {&out.rows, gallery}} {
		if *m.to, err = m.from.MarshalBinary(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// body returns what a path answers with.
func (g *things) body(path string) (body []byte, kind string) {
	switch path {
	case "/v1/codebook":
		return g.codebook, "application/octet-stream"
	case "/v1/base":
		return g.base, "application/octet-stream"
	case "/v1/cells":
		return g.answer, "application/octet-stream"
	case "/v1/rows":
		return g.rows, "application/octet-stream"
	case "/v1/map":
		return g.chart, "application/json"
	}
	return []byte(`{"name":"fixture"}`), "application/json"
}

// ServeHTTP answers as a service does when nothing is wrong. Package retrieval/service is
// what the other tests ask; here each test bends one thing.
func (g *things) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, kind := g.body(r.URL.Path)
	w.Header().Set("Content-Type", kind)
	if r.Method == http.MethodGet {
		sum := sha256.Sum256(body)
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(string(body)))
		return
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.Write(body)
}

// A reached is a Server whose pauses take no time, and what it was told.
type reached struct {
	*Server
	mutex    sync.Mutex
	pauses   []time.Duration
	warnings []error
}

// reach starts a service and returns the Server at its address.
func reach(t *testing.T, handler http.Handler, settings Settings) *reached {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return reachAt(t, s.URL, settings)
}

func reachAt(t *testing.T, address string, settings Settings) *reached {
	t.Helper()
	out := new(reached)
	settings.Warn = func(err error) {
		out.mutex.Lock()
		defer out.mutex.Unlock()
		out.warnings = append(out.warnings, err)
	}
	s, err := New(address, settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.pause = func(ctx context.Context, d time.Duration) error {
		out.mutex.Lock()
		defer out.mutex.Unlock()
		out.pauses = append(out.pauses, d)
		return ctx.Err()
	}
	out.Server = s
	return out
}

// call is one of the calls of a Server.
type call struct {
	name string
	do   func(ctx context.Context, s *Server, g *things) error
}

// calls are all of them. All but the first need the codebook.
func calls() []call {
	with := func(do func(ctx context.Context, s *Server, g *things) error) func(context.Context, *Server, *things) error {
		return func(ctx context.Context, s *Server, g *things) error {
			s.books.add(g.hash, g.book)
			return do(ctx, s, g)
		}
	}
	return []call{
		{"codebook", func(ctx context.Context, s *Server, g *things) error { _, err := s.Codebook(ctx); return err }},
		{"base", with(func(ctx context.Context, s *Server, g *things) error {
			_, err := s.Base(ctx, g.hash, wire.Float32)
			return err
		})},
		{"cells", with(func(ctx context.Context, s *Server, g *things) error {
			_, err := s.Cells(ctx, g.request, wire.Float32)
			return err
		})},
		{"rows", with(func(ctx context.Context, s *Server, g *things) error { _, err := s.Gallery(ctx, g.hash); return err })},
		{"map", with(func(ctx context.Context, s *Server, g *things) error { _, err := s.Map(ctx, g.hash); return err })},
		{"gallery", with(func(ctx context.Context, s *Server, g *things) error { _, err := s.Describe(ctx); return err })},
	}
}
