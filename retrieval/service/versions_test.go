package service

import (
	"bytes"
	"errors"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/server"
)

func isA(err, target error) bool { return errors.Is(err, target) }

// A replaced version answers whoever names its codebook until its time is over, and then
// requests for it are told the new one.
func TestVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := New(Settings{Drain: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Publish(Offer{Name: "one", Cells: newCells(t, 1)}); err != nil {
			t.Fatal(err)
		}
		first := s.versions[0].says.Codebook
		request := s.frame(t, 2)
		if err := s.Publish(Offer{Name: "two", Cells: newCells(t, 2)}); err != nil {
			t.Fatal(err)
		}
		second := s.versions[0].says.Codebook
		public := s.Public()
		ask := func(method, path string, body []byte) reply {
			w := httptest.NewRecorder()
			public.ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(body)))
			return reply{w.Code, w.Header(), w.Body.Bytes()}
		}
		get := []string{"/v1/gallery", "/v1/codebook", "/v1/base", "/v1/rows"}
		time.Sleep(59 * time.Second)
		for _, path := range get {
			if r := ask("GET", path+"?codebook="+first, nil); r.status != 200 {
				t.Errorf("%s of the first version: %d", path, r.status)
			}
		}
		if r := ask("POST", "/v1/cells", request); r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
		if r := ask("GET", "/v1/gallery", nil); !bytes.Contains(r.body, []byte(second)) {
			t.Errorf("the newest is %s", r.body)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, path := range get {
			if p := wantProblem(t, ask("GET", path+"?codebook="+first, nil), 409, "stale-codebook"); p.Codebook != second || p.Version != 2 {
				t.Errorf("%s: %+v", path, p)
			}
		}
		if p := wantProblem(t, ask("POST", "/v1/cells", request), 409, "stale-codebook"); p.Codebook != second {
			t.Errorf("%+v", p)
		}
		if r := ask("POST", "/v1/cells", s.frame(t, 2)); r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
	})
}

// Few versions are kept, none with a negative time, and never two of one codebook.
func TestVersionsAreFew(t *testing.T) {
	for _, c := range []struct {
		drain   time.Duration
		numbers []uint64
		want    int
	}{
		{0, []uint64{1, 2, 3, 4, 5, 6}, maxVersions}, {-1, []uint64{1, 2, 3}, 1}, {0, []uint64{1, 1, 1}, 1}, {0, []uint64{1, 2, 1}, 2},
	} {
		s, err := New(Settings{Drain: c.drain})
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range c.numbers {
			if err := s.Publish(Offer{Cells: newCells(t, n)}); err != nil {
				t.Fatal(err)
			}
		}
		if len(s.versions) != c.want || s.versions[0].gallery.Cells.Codebook().Version != c.numbers[len(c.numbers)-1] {
			t.Errorf("%v: %d versions", c, len(s.versions))
		}
		s.Close()
		if len(s.versions) != 0 {
			t.Error("versions after Close")
		}
	}
}

func TestPublishRefused(t *testing.T) {
	s, err := New(Settings{})
	if err != nil {
		t.Fatal(err)
	}
	cells := newCells(t, 1)
	if err := s.Publish(Offer{Cells: cells}); err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]Offer{"nothing": {}, "map": {Cells: newCells(t, 2), Map: []byte("{")}, "twice": {Cells: cells}} {
		if err := s.Publish(g); !isA(err, ErrGallery) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(s.versions) != 1 || s.versions[0].gallery.Cells != cells {
		t.Error("what was refused is served")
	}
	s.Close()
	if err := s.Publish(Offer{Cells: newCells(t, 3)}); !isA(err, ErrGallery) || len(s.versions) != 0 {
		t.Errorf("after Close: %v", err)
	}
}

// A version is closed once, when it is served no more and its last request has ended: rows
// and maps are read from its file without a Hold.
func TestVersionIsClosedAtTheEnd(t *testing.T) {
	s, err := New(Settings{Drain: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Publish(Offer{Cells: newCells(t, 1)}); err != nil {
		t.Fatal(err)
	}
	v, p := s.take(nil)
	if p != nil {
		t.Fatal(p)
	}
	if _, p = s.take(nil); p != nil { // another request
		t.Fatal(p)
	}
	if err := s.Publish(Offer{Cells: newCells(t, 2)}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		release, err := v.gallery.Cells.Hold()
		if err != nil || !v.retired {
			t.Fatalf("retired %v, and a request runs: %v", v.retired, err)
		}
		release()
		s.retire(v)
		s.give(v)
	}
	if _, err := v.gallery.Cells.Hold(); !isA(err, server.ErrClosed) {
		t.Errorf("not closed after its last request: %v", err)
	}
}

// Galleries are replaced under load, and no request fails.
func TestReplacedUnderLoad(t *testing.T) {
	s, web := start(t, Settings{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 25 {
				if r := send(t, "POST", web.URL+"/v1/cells?encoding=int8", bytes.NewReader(s.frame(t, 1))); r.status != 200 {
					t.Errorf("%d %s", r.status, r.body)
				}
			}
		})
	}
	for n := range uint64(3) {
		if err := s.Publish(Offer{Cells: newCells(t, n+2)}); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
}
