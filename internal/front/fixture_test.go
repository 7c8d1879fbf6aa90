package front

import (
	"bytes"
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// shardCount is how many shards the galleries here have.
const shardCount = 3

// newCells returns a gallery, another one for each version.
func newCells(t *testing.T, version uint64, size int) *server.Cells {
	t.Helper()
	x := blas64.General{Rows: 250, Cols: 5, Stride: 5}
	for i := range x.Rows {
		angle := 2 * math.Pi * float64(i) / float64(x.Rows)
		x.Data = append(x.Data, math.Cos(angle), math.Sin(3*angle), float64(i%7)/10, math.Sin(angle), float64(i%3))
	}
	settings := server.CellsSettings{Epsilon: 4, Version: version, Map: []byte(`{"columns":5}`)}
	if size > 1 {
		settings = server.CellsSettings{Cells: 9, Size: size, Version: version, Map: settings.Map}
	}
	c, err := server.NewCells(t.Context(), x, x, settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A shardServer is a shard whose answers a test may replace.
type shardServer struct {
	*service.Service
	web     *httptest.Server
	handler atomic.Pointer[http.HandlerFunc] // in place of the service; nil for none

	mu   sync.Mutex
	came [][]byte // bodies of requests for cells
}

// handle puts a handler in the place of the service, nil for the service itself.
func (s *shardServer) handle(h http.HandlerFunc) {
	if h == nil {
		s.handler.Store(nil)
		return
	}
	s.handler.Store(&h)
}

// dead is the handler of a shard that is not there.
func dead(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func (s *shardServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.handler.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	if r.URL.Path == "/v1/shard/cells" {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		s.came = append(s.came, body)
		s.mu.Unlock()
	}
	s.Public().ServeHTTP(w, r)
}

// asked returns how many requests for cells came.
func (s *shardServer) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.came)
}

// publish makes a shard of a gallery what the server serves.
func (s *shardServer) publish(t *testing.T, c *server.Cells, index, count int) {
	t.Helper()
	part, err := c.Split(t.Context(), index, count, 0, nil)
	if err == nil {
		err = s.Publish(service.Offer{Name: "birds", Cells: part})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A farm is a gallery served whole, and by a front end with shards.
type farm struct {
	whole    *server.Cells
	one, all *httptest.Server // with all rows, and the front end
	shards   []*shardServer
	front    *Front
	service  *service.Service // of the front end
}

func newFarm(t *testing.T, size int) *farm {
	t.Helper()
	f := &farm{whole: newCells(t, 1, size)}
	newService := func(settings service.Settings) *service.Service {
		t.Helper()
		s, err := service.New(settings)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Close)
		return s
	}
	single := newService(service.Settings{})
	if err := single.Publish(service.Offer{Name: "birds", Cells: f.whole}); err != nil {
		t.Fatal(err)
	}
	f.one = httptest.NewServer(single.Public())
	t.Cleanup(f.one.Close)
	var addresses []string
	for i := range shardCount {
		s := &shardServer{Service: newService(service.Settings{})}
		s.publish(t, f.whole, i+1, shardCount)
		s.web = httptest.NewServer(s)
		t.Cleanup(s.web.Close)
		f.shards, addresses = append(f.shards, s), append(addresses, s.web.URL)
	}
	var err error
	if f.front, err = New(Settings{Shards: addresses, Remote: remote.Settings{Tries: 1}}); err != nil {
		t.Fatal(err)
	}
	f.service = newService(service.Settings{Shards: f.front.Shards})
	f.all = httptest.NewServer(f.service.Public())
	t.Cleanup(f.all.Close)
	return f
}

// look looks at the shards once.
func (f *farm) look(t *testing.T) {
	t.Helper()
	f.front.look(t.Context(), f.service.Publish)
}

// request returns the binary form of a request of a gallery.
func request(t *testing.T, c *server.Cells, first uint32) []byte {
	t.Helper()
	hash, err := c.Codebook().Hash()
	if err != nil {
		t.Fatal(err)
	}
	r := wire.CellsRequest{Codebook: hash}
	for i := range c.Codebook().Size {
		r.Cells = append(r.Cells, first+uint32(i))
	}
	frame, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

// A reply is an answer that was read whole, if it could be.
type reply struct {
	status int
	header http.Header
	body   []byte
	err    error
}

func send(t *testing.T, method, url string, body []byte, headers ...string) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		return reply{err: err}
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return reply{answer.StatusCode, answer.Header, text, err}
}
