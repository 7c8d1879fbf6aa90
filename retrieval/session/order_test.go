package session_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/retrieval/session"
)

// orderly runs a session and calls before with the number of each download, from 1 on, before it is
// answered. It returns what was found and the methods of requests in their order.
func orderly(t *testing.T, service http.Handler, settings session.Settings, before func(rows []float32, download int)) (ids []int32, methods []string) {
	t.Helper()
	rows := rowsOf(t, 3)
	downloads := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods = append(methods, r.Method)
		if r.Method == http.MethodGet {
			downloads++
			before(rows.X.Data, downloads)
		}
		service.ServeHTTP(w, r)
	}))
	defer h.Close()
	s, err := session.New(h.URL, settings)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	result, err := s.Answer(t.Context(), rows)
	if err != nil {
		t.Fatal(err)
	}
	return result.IDs, methods
}

// No number of a row is looked at before everything that is taken once is here: rows that are
// others until the server gets the last request for such a thing give the same answers. After that
// request nothing but questions is sent.
func TestTouchesRowsAfterDownloads(t *testing.T) {
	for mode, settings := range everyMode() {
		service := serviceOf(t, mode)
		last, questions := map[session.Mode]int{session.Sealed: 6, session.Cells: 3, session.All: 3}[mode], mode != session.All
		want, methods := orderly(t, service, settings, func([]float32, int) {})
		downloads := 0
		for i, m := range methods {
			if m != http.MethodGet {
				continue
			}
			if downloads++; i >= downloads {
				t.Errorf("%s: requests %q: a download comes after a question", mode, methods)
				break
			}
		}
		if downloads != last || (len(methods) > downloads) != questions {
			t.Errorf("%s: requests %q, want %d downloads", mode, methods, last)
		}
		var given []float32
		got, _ := orderly(t, service, settings, func(rows []float32, n int) {
			if n == 1 {
				given = slices.Clone(rows)
			}
			for i := range rows {
				rows[i] = given[(i+n)%len(given)] * float32(n)
			}
			if n == last {
				copy(rows, given)
			}
		})
		if !slices.Equal(got, want) {
			t.Errorf("%s: a row was looked at too early: %v, want %v", mode, got, want)
		}
	}
}
