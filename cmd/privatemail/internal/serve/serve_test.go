package serve

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	svc, err := service.New(service.Settings{Tokens: tokens})
	if err != nil {
		t.Fatal(err)
	}
	defer svc.Close()
	if err := os.WriteFile(path, []byte("second-token-of-all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Serving{Flags: new(Flags), File: filepath.Join(t.TempDir(), "none"), service: svc, tokens: tokens}
	s.reload(t.Context())
	for token, want := range map[string]int{"first-token-of-all": http.StatusUnauthorized, "second-token-of-all": http.StatusServiceUnavailable} {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", "/v1/gallery", nil)
		r.Header.Set("X-API-Key", token)
		if svc.Public().ServeHTTP(w, r); w.Code != want { // there is no gallery
			t.Errorf("%s: %d, want %d", token, w.Code, want)
		}
	}
}

// -drain 0 means not at all, and not the default of the service.
func TestServeWithoutDrain(t *testing.T) {
	for drain, want := range map[time.Duration]time.Duration{0: -1, time.Minute: time.Minute} {
		f := &Flags{Limits: service.Settings{Drain: drain}}
		if got := f.settings(nil).Drain; got != want {
			t.Errorf("%v: %v, want %v", drain, got, want)
		}
	}
}
