package remote

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/recordtest"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// sealedMap is the map of a sealed fixture.
const sealedMap = `{"dim":2,"mean":[1,1]}`

// A sealedFixture is a service of mode sealed, with a note of what it was asked for.
type sealedFixture struct {
	service *service.Service
	gallery *sealedserver.Gallery
	records *sealedserver.Records
	epoch   wire.Hash
	request *wire.SealedRequest // some ciphertexts of zeros: the server cannot tell

	mutex sync.Mutex
	paths []string
	// instead, if it is set, answers in the place of the service and reports whether it did.
	instead func(w http.ResponseWriter, r *http.Request) bool
}

func newSealedFixture(t *testing.T, seed uint64) *sealedFixture {
	t.Helper()
	x := blas64.General{Rows: 30, Cols: 2, Stride: 2}
	for i := range x.Rows {
		x.Data = append(x.Data, float64(i%6)-float64(seed), float64(i/6)+.5)
	}
	f := new(sealedFixture)
	var err error
	if f.gallery, err = sealedserver.New(t.Context(), x, sealedserver.Settings{Cells: 4, Probes: 2, Map: []byte(sealedMap)}); err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for i := range x.Rows {
		lines = append(lines, fmt.Appendf(nil, "line %d", i))
	}
	if f.records, err = sealedserver.NewRecords(t.Context(), f.gallery.Epoch(), recordtest.InMemory(lines), sealedserver.RecordsSettings{}); err != nil {
		t.Fatal(err)
	}
	if f.service, err = service.New(service.Settings{}); err != nil {
		t.Fatal(err)
	}
	if err := f.service.Publish(service.Offer{Sealed: f.gallery, Records: f.records}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.service.Close)
	f.epoch = f.gallery.Epoch()
	m := f.gallery.Manifest()
	f.request = &wire.SealedRequest{Epoch: f.epoch, Count: m.Probes, Columns: m.Columns(), Width: 3, Bytes: make([]byte, 3*m.Probes*m.Columns())}
	return f
}

func (f *sealedFixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mutex.Lock()
	f.paths = append(f.paths, r.URL.Path)
	instead := f.instead
	f.mutex.Unlock()
	if instead == nil || !instead(w, r) {
		f.service.Public().ServeHTTP(w, r)
	}
}

// asked returns the paths that were asked for since it was last called.
func (f *sealedFixture) asked() (paths []string) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	paths, f.paths = f.paths, nil
	return paths
}

// all takes everything of mode sealed once.
func (f *sealedFixture) all(ctx context.Context, s *Server) error {
	m, err := s.SealedManifest(ctx)
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	epoch, err := m.Hash()
	if err != nil || epoch != f.epoch {
		return fmt.Errorf("epoch %x: %w", epoch, err)
	}
	if _, err := s.SealedHint(ctx, epoch, 0); err != nil {
		return fmt.Errorf("hint: %w", err)
	}
	if _, err := s.SealedIDs(ctx, epoch, 0); err != nil {
		return fmt.Errorf("ids: %w", err)
	}
	chart, err := s.SealedMap(ctx, epoch)
	if err != nil || chart == nil || chart.Dim() != 2 {
		return fmt.Errorf("map %v: %w", chart, err)
	}
	records, err := s.SealedRecords(ctx, epoch)
	if err != nil {
		return fmt.Errorf("records: %w", err)
	}
	if _, err := s.SealedRecordsHint(ctx, records); err != nil {
		return fmt.Errorf("hint of records: %w", err)
	}
	if _, err := s.SealedAsk(ctx, f.request); err != nil {
		return fmt.Errorf("ask: %w", err)
	}
	fetch := &wire.SealedRequest{Epoch: f.records.Epoch(), Count: 2, Columns: records.Columns(), Width: 4, Bytes: make([]byte, 8*records.Columns())}
	if _, err := s.SealedFetch(ctx, records, fetch); err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	return nil
}

// Everything comes over the network once. A later process with the confirmed epoch asks for
// nothing that the cache has.
func TestSealedFromTheCache(t *testing.T) {
	f := newSealedFixture(t, 1)
	cache := t.TempDir()
	for run, settings := range []Settings{{Cache: cache}, {Cache: cache}, {Cache: cache, Epoch: f.epoch}} {
		s := reach(t, f, settings)
		if err := f.all(t.Context(), s.Server); err != nil {
			t.Fatal(run, err)
		}
		want := [][]string{
			{"/v1/sealed/manifest", "/v1/sealed/hint", "/v1/sealed/ids", "/v1/map", "/v1/sealed/records/manifest", "/v1/sealed/records/hint", "/v1/sealed/ask", "/v1/sealed/records/fetch"},
			{"/v1/sealed/manifest", "/v1/sealed/records/manifest", "/v1/sealed/ask", "/v1/sealed/records/fetch"},
			{"/v1/sealed/records/manifest", "/v1/sealed/ask", "/v1/sealed/records/fetch"},
		}[run]
		if got := f.asked(); !slices.Equal(got, want) {
			t.Errorf("run %d asked for %q", run, got)
		}
		if len(s.warnings) > 0 {
			t.Errorf("run %d: %v", run, s.warnings)
		}
		chart, hint, ids := s.CachedSealed(f.epoch)
		if !s.CachedManifest(f.epoch) || chart != int64(len(sealedMap)) || hint != f.gallery.Manifest().HintBytes() || ids != f.gallery.Manifest().IDsBytes() || s.CachedRecords(f.records.Epoch()) != f.records.Manifest().HintBytes() {
			t.Errorf("run %d: the cache has %d %d %d", run, chart, hint, ids)
		}
	}
	// Files that were changed are fetched again.
	files, err := filepath.Glob(filepath.Join(cache, "*"))
	if err != nil || len(files) != 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 1
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := reach(t, f, Settings{Cache: cache, Epoch: f.epoch})
	if err := f.all(t.Context(), s.Server); err != nil || len(s.warnings) != 5 {
		t.Errorf("%v, warnings %v", err, s.warnings)
	}
	// And so is the manifest of another epoch in the place of the one that was confirmed.
	other := newSealedFixture(t, 2)
	foreign := t.TempDir()
	if err := other.all(t.Context(), reach(t, other, Settings{Cache: foreign}).Server); err != nil {
		t.Fatal(err)
	}
	from, _ := filepath.Glob(filepath.Join(foreign, "*"+manifestName+"*"))
	to, _ := filepath.Glob(filepath.Join(cache, "*"+manifestName+"*"))
	if len(from) != 1 || len(to) != 1 {
		t.Fatal(from, to)
	}
	data, err := os.ReadFile(from[0])
	if err == nil {
		err = os.WriteFile(to[0], data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := reach(t, f, Settings{Cache: cache, Epoch: f.epoch}).SealedManifest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if hash, err := m.Hash(); err != nil || hash != f.epoch {
		t.Errorf("epoch %x from the cache, want %x: %v", hash, f.epoch, err)
	}
}

// A gallery that grows: a hint of a later version takes the place of the one in the cache,
// and changes lead there.
func TestSealedGrows(t *testing.T) {
	f := newSealedFixture(t, 1)
	s := reach(t, f, Settings{Cache: t.TempDir()})
	if err := f.all(t.Context(), s.Server); err != nil {
		t.Fatal(err)
	}
	if _, err := f.gallery.Insert([]float64{2, 2}, 77); err != nil {
		t.Fatal(err)
	}
	if hint, err := s.SealedHint(t.Context(), f.epoch, 0); err != nil || hint.Version != 0 {
		t.Errorf("%v, %v", hint, err)
	}
	changes, err := s.SealedChanges(t.Context(), f.epoch, 0, 1)
	if err != nil || changes.Version != 1 || len(changes.Names) != 1 {
		t.Errorf("%v, %v", changes, err)
	}
	if _, err := s.SealedChanges(t.Context(), f.epoch, 0, 5); !errors.Is(err, ErrChanges) {
		t.Errorf("changes to nowhere: %v", err)
	}
	for range 2 {
		f.asked()
		if hint, err := s.SealedHint(t.Context(), f.epoch, 1); err != nil || hint.Version != 1 {
			t.Errorf("%v, %v", hint, err)
		}
		if ids, err := s.SealedIDs(t.Context(), f.epoch, 1); err != nil || ids.Version != 1 {
			t.Errorf("%v, %v", ids, err)
		}
	}
	if got := f.asked(); len(got) != 0 {
		t.Errorf("the cache does not have version 1: %q", got)
	}
	if _, err := s.SealedHint(t.Context(), f.epoch, 9); !errors.Is(err, ErrResponse) {
		t.Errorf("a hint that is older than an answer: %v", err)
	}
}

// The server has another epoch, at the start and later.
func TestSealedEpochs(t *testing.T) {
	f, other := newSealedFixture(t, 1), newSealedFixture(t, 2)
	s := reach(t, f, Settings{Epoch: other.epoch})
	var stale *EpochError
	if _, err := s.SealedManifest(t.Context()); !errors.As(err, &stale) || !errors.Is(err, ErrEpoch) || stale.Asked != other.epoch || stale.Current != f.epoch {
		t.Errorf("%v", err)
	}
	if _, err := s.SealedHint(t.Context(), f.epoch, 0); !errors.Is(err, ErrEpoch) {
		t.Errorf("a hint without a manifest: %v", err)
	}
	if _, err := s.SealedAsk(t.Context(), f.request); !errors.Is(err, ErrEpoch) {
		t.Errorf("a request without a manifest: %v", err)
	}
	s = reach(t, f, Settings{})
	if err := f.all(t.Context(), s.Server); err != nil {
		t.Fatal(err)
	}
	old := f.service
	f.mutex.Lock()
	f.service = other.service
	f.mutex.Unlock()
	defer old.Close()
	if _, err := s.SealedAsk(t.Context(), f.request); !errors.As(err, &stale) || stale.Current != other.epoch {
		t.Errorf("%v", err)
	}
	if _, err := s.SealedRecords(t.Context(), f.epoch); !errors.Is(err, ErrEpoch) {
		t.Errorf("records of another epoch: %v", err)
	}
}

// A server that sends something else is refused, and nothing of it is kept.
func TestSealedLies(t *testing.T) {
	f, other := newSealedFixture(t, 1), newSealedFixture(t, 2)
	frame := func(m interface{ MarshalBinary() ([]byte, error) }) []byte {
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	answer := func(epoch wire.Hash, count int) []byte {
		m := f.gallery.Manifest()
		return frame(&wire.SealedAnswer{Epoch: epoch, Count: count, Rows: m.Probes * m.Length / count, Words: make([]uint32, m.Probes*m.Length)})
	}
	hint := frame(f.gallery.Hint())
	for name, lie := range map[string]struct {
		path string
		body []byte
		want error
	}{
		"another manifest":          {"/v1/sealed/manifest", frame(other.gallery.Manifest()), ErrEpoch},
		"no manifest":               {"/v1/sealed/manifest", hint, ErrResponse},
		"a hint of another epoch":   {"/v1/sealed/hint", frame(other.gallery.Hint()), ErrResponse},
		"half a hint":               {"/v1/sealed/hint", hint[:len(hint)/2], ErrResponse},
		"a changed hint":            {"/v1/sealed/hint", append(append(bytes.Clone(hint[:900]), hint[900]^1), hint[901:]...), ErrResponse},
		"row numbers of another":    {"/v1/sealed/ids", frame(other.gallery.IDs()), ErrResponse},
		"another map":               {"/v1/map", []byte(`{"dim":2,"mean":[1,2]}`), ErrResponse},
		"records of another":        {"/v1/sealed/records/manifest", frame(other.records.Manifest()), ErrEpoch},
		"a hint of other records":   {"/v1/sealed/records/hint", frame(other.records.Hint()), ErrResponse},
		"an answer of another":      {"/v1/sealed/ask", answer(other.epoch, 2), ErrResponse},
		"an answer of fewer probes": {"/v1/sealed/ask", answer(f.epoch, 1), ErrResponse},
		"a longer answer":           {"/v1/sealed/ask", append(answer(f.epoch, 2), 0), ErrResponse},
		"another answer to a fetch": {"/v1/sealed/records/fetch", answer(f.records.Epoch(), 2), ErrResponse},
	} {
		cache := t.TempDir()
		s := reach(t, f, Settings{Cache: cache, Epoch: f.epoch})
		f.instead = func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != lie.path {
				return false
			}
			if strings.HasSuffix(lie.path, "map") {
				w.Header().Set("Content-Type", "application/json")
			}
			w.Write(lie.body)
			return true
		}
		if err := f.all(t.Context(), s.Server); !errors.Is(err, lie.want) {
			t.Errorf("%s: %v", name, err)
		}
		f.instead = nil
		if err := f.all(t.Context(), s.Server); err != nil {
			t.Errorf("%s, and then the truth: %v", name, err)
		}
		if len(s.warnings) > 0 {
			t.Errorf("%s: something of it was kept: %v", name, s.warnings)
		}
	}
}

// A request that is tried again has the same bytes, and a hint that was cut off goes on.
func TestSealedRetries(t *testing.T) {
	f := newSealedFixture(t, 1)
	s := reach(t, f, Settings{Cache: t.TempDir()})
	var bodies [][]byte
	var ranges []string
	hint, err := f.gallery.Hint().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(hint)
	f.instead = func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/v1/sealed/ask":
			var body bytes.Buffer
			body.ReadFrom(r.Body)
			bodies = append(bodies, body.Bytes())
			if len(bodies) < 3 {
				w.WriteHeader(http.StatusBadGateway)
				return true
			}
			r.Body = http.NoBody
			again := httptest.NewRequest("POST", r.URL.Path, bytes.NewReader(body.Bytes()))
			f.service.Public().ServeHTTP(w, again)
			return true
		case "/v1/sealed/hint":
			if ranges = append(ranges, r.Header.Get("Range")); len(ranges) > 1 {
				return false
			}
			w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
			w.Header().Set("Content-Length", fmt.Sprint(len(hint)))
			w.Write(hint[:40_000])
			return true
		}
		return false
	}
	if err := f.all(t.Context(), s.Server); err != nil {
		t.Fatal(err)
	}
	if len(bodies) != 3 || !bytes.Equal(bodies[0], bodies[1]) || !bytes.Equal(bodies[0], bodies[2]) {
		t.Errorf("%d requests, not all the same", len(bodies))
	}
	if len(ranges) != 2 || ranges[1] != "bytes=40000-" {
		t.Errorf("ranges %q", ranges)
	}
}

// A long upload may take longer than the server may be silent.
func TestUploadKeepsTheWatch(t *testing.T) {
	body := make([]byte, 3*pace)
	request := httptest.NewRequest("POST", "/", http.NoBody)
	calls := 0
	upload(request, body, func() { calls++ })
	for range 2 { // the first try, and one more of package http
		var got bytes.Buffer
		if _, err := got.ReadFrom(request.Body); err != nil || !bytes.Equal(got.Bytes(), body) || request.ContentLength != int64(len(body)) {
			t.Errorf("%d bytes, %v", got.Len(), err)
		}
		request.Body, _ = request.GetBody()
	}
	if calls < 2 {
		t.Errorf("%d calls", calls)
	}
}

// Without a map there is nothing to ask for.
func TestSealedWithoutMap(t *testing.T) {
	x := blas64.General{Rows: 8, Cols: 1, Stride: 1, Data: []float64{1, 2, 3, 4, 5, 6, 7, 8}}
	g, err := sealedserver.New(t.Context(), x, sealedserver.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := service.New(service.Settings{Shutdown: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if err := v.Publish(service.Offer{Sealed: g}); err != nil {
		t.Fatal(err)
	}
	s := reach(t, v.Public(), Settings{})
	if _, err := s.SealedManifest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if chart, err := s.SealedMap(t.Context(), g.Epoch()); chart != nil || err != nil {
		t.Errorf("%v, %v", chart, err)
	}
	var refused *RefusedError
	if _, err := s.SealedRecords(t.Context(), g.Epoch()); !errors.As(err, &refused) || refused.Status != 404 {
		t.Errorf("%v", err)
	}
	about, err := s.Describe(t.Context())
	if text, _ := json.Marshal(about); err != nil {
		t.Errorf("%s, %v", text, err)
	}
}
