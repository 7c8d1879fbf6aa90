package remote

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Labels are taken at each call, fit the rows of the codebook, and are counted.
func TestLabels(t *testing.T) {
	g := newThings(t, 1)
	all := strings.TrimSuffix(strings.Repeat("1,-1,0,", fixtureRows/3), ",")
	answer, status := fmt.Sprintf(`{"labels":[%s],"names":["a","b"]}`, all), http.StatusOK
	asked := 0
	s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/labels" {
			g.ServeHTTP(w, r)
			return
		}
		asked++
		if want := fmt.Sprintf("codebook=%x", g.hash); r.URL.RawQuery != want {
			t.Errorf("asked for %s, want %s", r.URL.RawQuery, want)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}), Settings{Cache: t.TempDir()})
	if _, err := s.Labels(t.Context(), g.hash); !errors.Is(err, wire.ErrCodebook) || asked > 0 {
		t.Errorf("of a codebook that nobody has fetched: %v", err)
	}
	if _, err := s.Codebook(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		labels, err := s.Labels(t.Context(), g.hash)
		if err != nil || len(labels.Labels) != fixtureRows || labels.Labels[1] != -1 || labels.Names[1] != "b" {
			t.Fatalf("%.100v, %v", labels, err)
		}
	}
	if held := s.memory.held(); asked != 2 || held < 4*fixtureRows {
		t.Errorf("asked %d times; %d bytes are counted", asked, held)
	}
	for _, wrong := range []string{`{"labels":[1]}`, `[]`, `{"labels":[` + all + `],"names":["a"]}`, `{}`} {
		answer = wrong
		if _, err := s.Labels(t.Context(), g.hash); !errors.Is(err, ErrResponse) {
			t.Errorf("%.40s: %v", wrong, err)
		}
	}
	for _, body := range []string{`{"type":"urn:privatemail:not-offered"}`, `404 page not found`} { // the last is an earlier version
		answer, status = body, http.StatusNotFound
		if _, err := s.Labels(t.Context(), g.hash); !errors.Is(err, ErrNoLabels) {
			t.Errorf("%s: %v", body, err)
		}
	}
	if _, err := s.SealedLabels(t.Context(), wire.Hash{1}); err == nil {
		t.Error("labels of an epoch that nobody has fetched")
	}
}
