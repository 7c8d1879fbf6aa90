package serve

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

// A reload reads the tokens again, whatever becomes of the gallery.
func TestServeReloadsTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte("first-token-of-all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := service.OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	s := &serving{flags: new(Flags), file: filepath.Join(t.TempDir(), "none"), tokens: tokens}
	if s.host, err = s.newHost(service.Settings{Tokens: tokens}); err != nil {
		t.Fatal(err)
	}
	defer s.close()
	s.service = s.host.Service()
	if err := os.WriteFile(path, []byte("second-token-of-all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.reload(t.Context())
	for token, want := range map[string]int{"first-token-of-all": http.StatusUnauthorized, "second-token-of-all": http.StatusServiceUnavailable} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/gallery", nil)
		r.Header.Set("X-API-Key", token)
		if s.service.Public().ServeHTTP(w, r); w.Code != want { // there is no gallery
			t.Errorf("%s: %d, want %d", token, w.Code, want)
		}
	}
}

// -drain 0 means not at all, and not the default of the service.
func TestServeWithoutDrain(t *testing.T) {
	for drain, want := range map[time.Duration]time.Duration{0: -1, time.Minute: time.Minute} {
		f := &Flags{limits: service.Settings{Drain: drain}}
		if got := f.settings(nil).Drain; got != want {
			t.Errorf("%v: %v, want %v", drain, got, want)
		}
	}
}

// Without -client-share the host decides: a shard has another default than other files.
func TestServeShareAsGiven(t *testing.T) {
	for _, c := range []struct {
		set  map[string]bool
		want float64
	}{{nil, 0}, {map[string]bool{"client-share": true}, 0.25}} {
		f := &Flags{Set: c.set, limits: service.Settings{Share: 0.25}}
		if got := f.settings(nil).Share; got != c.want {
			t.Errorf("%v: %g, want %g", c.set, got, c.want)
		}
	}
}
