package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A server does not publish a map that clients refuse.
func TestPublishedMapRange(t *testing.T) {
	for far, ok := range map[float64]bool{1e40: true, 1e49: false} {
		_, err := publishedMap(&supervised.Model{Map: &supervised.Map{Dim: 1, Scale: []float64{far}}})
		if errors.Is(err, supervised.ErrRange) == ok || (err == nil) != ok {
			t.Errorf("%g: %v", far, err)
		}
	}
}

// modelOf writes a model of 300 rows and returns the name of its file.
func modelOf(t *testing.T) string {
	t.Helper()
	const rows, columns = 300, 5
	x, err := synth.Uniform(rows, columns, 3)
	if err != nil {
		t.Fatal(err)
	}
	z, err := synth.Uniform(rows, columns, 4)
	if err != nil {
		t.Fatal(err)
	}
	m := &supervised.Model{Map: &supervised.Map{Dim: columns}, X: x, Z: z}
	path := filepath.Join(t.TempDir(), "birds.model")
	if err := m.Save(t.Context(), path, supervised.About{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// A model becomes a gallery once, and every later host has the same codebook and the same epoch. Where
// settings differ, nothing is replaced unless that is asked for.
func TestLoadAgain(t *testing.T) {
	settings := Settings{File: modelOf(t), Epsilon: 4, Sealed: true, Service: service.Settings{Drain: -1}}
	published := func() (name string, book []byte) {
		h, err := New(settings)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		for range 2 { // the second is a reload
			if err := h.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		get := func(path string) []byte {
			w := httptest.NewRecorder()
			if h.Service().Public().ServeHTTP(w, httptest.NewRequest("GET", path, nil)); w.Code != http.StatusOK {
				t.Fatalf("%s: %d", path, w.Code)
			}
			return w.Body.Bytes()
		}
		var about struct{ Name string }
		if err := json.Unmarshal(get("/v1/gallery"), &about); err != nil {
			t.Fatal(err)
		}
		return about.Name, append(get("/v1/codebook"), get("/v1/sealed/manifest")...)
	}
	name, first := published()
	if _, again := published(); name != "birds" || !bytes.Equal(again, first) {
		t.Errorf("%q has another codebook or epoch", name)
	}
	other := settings
	other.Seed = 1
	h, err := New(other)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	var refused *SourceError
	if err := h.Load(t.Context()); !errors.As(err, &refused) || refused.Sealed || filepath.Base(refused.File) != "birds.gallery" {
		t.Errorf("another seed: %v", err)
	}
	settings = other
	settings.Rebuild = true
	if _, rebuilt := published(); bytes.Equal(rebuilt, first) {
		t.Error("rebuilt, and nothing has changed")
	}
}

// Records need mode sealed, and a file of their own.
func TestRecordsRefused(t *testing.T) {
	model := modelOf(t)
	for records, c := range map[string]struct {
		sealed bool
		want   error
	}{"names.txt": {false, nil}, strings.TrimSuffix(model, ".model") + ".records": {true, errRecordsFile}} {
		h, err := New(Settings{File: model, Epsilon: 4, Sealed: c.sealed, Records: records})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Load(t.Context()); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", records, err)
		}
		h.Close()
	}
}

// A shard gives one client everything: all requests of a front end come from it.
func TestShardsHaveNoShares(t *testing.T) {
	h, err := New(Settings{File: modelOf(t), Epsilon: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	gallery := h.beside(".gallery")
	whole, err := server.OpenCells(t.Context(), gallery)
	if err != nil {
		t.Fatal(err)
	}
	part, err := whole.Split(t.Context(), 1, 3, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	shard := filepath.Join(t.TempDir(), "birds"+(&server.Shard{Index: 1, Count: 3}).Ending()+".shard")
	if err := errors.Join(part.Save(t.Context(), shard), part.Close(), whole.Close()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file        string
		share, want float64
	}{{gallery, 0, 0}, {shard, 0, 1}, {shard, 0.25, 0.25}, {"absent", 0, 0}, {gallery, 0.5, 0.5}} {
		if got := shareOf(&Settings{File: c.file, Service: service.Settings{Share: c.share}}); got != c.want {
			t.Errorf("%s, %g: %g, want %g", c.file, c.share, got, c.want)
		}
	}
}
