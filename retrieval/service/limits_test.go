package service

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hold sends the head of a request and waits until the service has begun to read its body.
// What is written to the pipe is the body.
func hold(t *testing.T, s *Service, url string, length int64) (*io.PipeWriter, <-chan reply) {
	t.Helper()
	in, out := io.Pipe()
	r, err := http.NewRequest("POST", url, in)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = length
	before := s.metrics.running.Load()
	ended := make(chan reply, 1)
	go func() {
		answer, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			ended <- reply{body: []byte(err.Error())}
			return
		}
		defer answer.Body.Close()
		body, _ := io.ReadAll(answer.Body)
		ended <- reply{answer.StatusCode, answer.Header, body}
	}()
	for s.metrics.running.Load() == before {
		time.Sleep(time.Millisecond)
	}
	return out, ended
}

// placesTaken returns how many requests have a place.
func (s *Service) placesTaken() int64 {
	taken, _ := s.places.load()
	return taken
}

// A request beyond the limit is refused, those that run go on, and there is room
// again when they have ended.
func TestBusy(t *testing.T) {
	s, web := start(t, Settings{MaxRequests: 2, Share: 1})
	s.places.patience = time.Millisecond
	body := s.frame(t, 1)
	var bodies []*io.PipeWriter
	var ends []<-chan reply
	for range 2 {
		out, ended := hold(t, s, web.URL+"/v1/cells", int64(len(body)))
		bodies, ends = append(bodies, out), append(ends, ended)
	}
	// Two may have begun without having a place yet.
	for s.placesTaken() < 2 {
		time.Sleep(time.Millisecond)
	}
	for _, path := range []string{"/v1/gallery", "/", "/nowhere"} {
		wantProblem(t, send(t, "GET", web.URL+path, nil), 503, "busy")
	}
	for i, out := range bodies {
		if _, err := out.Write(body); err != nil {
			t.Error(err)
		}
		out.Close()
		if r := <-ends[i]; r.status != 200 {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if r := send(t, "GET", web.URL+"/v1/gallery", nil); r.status != 200 {
		t.Errorf("after that: %d", r.status)
	}
	if n := s.metrics.refused["busy"].Load(); n != 3 {
		t.Errorf("%d refusals are counted", n)
	}
}

// Each client has its own rate, by token or by address.
func TestRate(t *testing.T) {
	tokens := writeTokens(t, "first-token-of-all\nsecond-token-of-all\n")
	s, web := start(t, Settings{Rate: 1e-6, Burst: 2, Tokens: tokens})
	get := func(token string) reply {
		return send(t, "GET", web.URL+"/v1/gallery", nil, "Authorization: Bearer "+token)
	}
	for _, token := range []string{"first-token-of-all", "second-token-of-all"} {
		for range 2 {
			if r := get(token); r.status != 200 {
				t.Errorf("%d %s", r.status, r.body)
			}
		}
		wantProblem(t, get(token), 429, "rate")
	}
	// Guesses of tokens are counted by address, all together.
	wantProblem(t, get("guess-one"), 401, "unauthorized")
	wantProblem(t, get("guess-two"), 401, "unauthorized")
	wantProblem(t, get("guess-three"), 429, "rate")
	if s.metrics.refused["rate"].Load() != 3 || s.metrics.refused["unauthorized"].Load() != 2 {
		t.Error("refusals are not counted")
	}
}

// Time gives requests back, and as many clients are known as there is room for.
func TestRatesOverTime(t *testing.T) {
	r := newRates(2, 3)
	now := time.Now()
	for i := range 3 {
		if w := r.wait("a", now); w != 0 {
			t.Errorf("request %d waits %v", i, w)
		}
	}
	if w := r.wait("a", now); w != time.Second/2 {
		t.Errorf("waits %v", w)
	}
	if w := r.wait("a", now.Add(time.Second/2)); w != 0 {
		t.Errorf("waits %v after half a second", w)
	}
	for i := range maxClients + 10 {
		r.wait(fmt.Sprint(i), now)
	}
	if len(r.clients) != maxClients || r.order.Len() != maxClients {
		t.Errorf("%d clients in %d places", len(r.clients), r.order.Len())
	}
	if _, ok := r.clients["a"]; ok {
		t.Error("the client that asked longest ago is still there")
	}
	var none *rates
	if none.wait("a", now) != 0 {
		t.Error("no limit, and a client waits")
	}
}

func writeTokens(t *testing.T, text string) *Tokens {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := OpenTokens(path)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

func TestTokens(t *testing.T) {
	tokens := writeTokens(t, "# of the team\n\n  first-token-of-all \r\nsecond-token-of-all")
	s, web := start(t, Settings{Tokens: tokens})
	for header, want := range map[string]int{
		"X-Nothing: 1": 401,
		"Authorization: Bearer first-token-of-all":  200,
		"Authorization: Bearer second-token-of-all": 200,
		"X-API-Key: second-token-of-all":            200,
		"Authorization: bearer second-token-of-all": 200,
		"Authorization: Bearerfirst-token-of-all":   401,
		"Authorization: Bearer first-token-of-al":   401,
		"Authorization: Bearer first-token-of-all2": 401,
		"Authorization: Bearer # of the team":       401,
		"Authorization: Bearer ":                    401,
		"Authorization: Basic first-token-of-all":   401,
		"X-API-Key: third-token-of-all":             401,
	} {
		for _, path := range []string{"/v1/gallery", "/", "/v1/rows"} {
			r := send(t, "GET", web.URL+path, nil, header)
			if r.status != want {
				t.Errorf("%s, %s: %d", path, header, r.status)
			}
			if want == 401 {
				wantProblem(t, r, 401, "unauthorized")
				if r.header.Get("WWW-Authenticate") == "" {
					t.Error("no header WWW-Authenticate")
				}
			}
		}
		if r := send(t, "POST", web.URL+"/v1/cells", bytes.NewReader(s.frame(t, 1)), header); r.status != want {
			t.Errorf("cells, %s: %d", header, r.status)
		}
	}
	// A file that is replaced counts from the next request on, one that is broken does not.
	if err := os.WriteFile(tokens.path, []byte("third-token-of-all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Reload(); err != nil {
		t.Fatal(err)
	}
	status := func(token string) int {
		return send(t, "GET", web.URL+"/v1/gallery", nil, "X-API-Key: "+token).status
	}
	if status("third-token-of-all") != 200 || status("first-token-of-all") != 401 {
		t.Error("the tokens are those from before")
	}
	if err := os.WriteFile(tokens.path, []byte("short\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := tokens.Reload(); !isA(err, errTokens) || strings.Contains(err.Error(), "short") {
		t.Errorf("%v", err)
	}
	if status("third-token-of-all") != 200 {
		t.Error("a broken file took the tokens away")
	}
}

func TestTokensRefused(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "comments": "# one\n\n", "short": "fifteen-letters", "space": "sixteen letters and more", "control": "sixteen-letters-\x01-more", "long": strings.Repeat("x", maxTokenFile+1),
	} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenTokens(path); !isA(err, errTokens) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := OpenTokens(filepath.Join(folder, "none")); !isA(err, errTokens) || !isA(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add("first-token-of-all\n# x\n")
	f.Fuzz(func(t *testing.T, text string) {
		hashes, err := parseTokens(text)
		if (err == nil) != (len(hashes) > 0) {
			t.Errorf("%d tokens, %v", len(hashes), err)
		}
	})
}

func TestAddress(t *testing.T) {
	for remote, want := range map[string]string{
		"10.1.2.3:55": "10.1.2.3", "[::ffff:10.1.2.3]:55": "10.1.2.3", "[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64",
		"[fe80::1%eth0]:9": "fe80::/64", "[::1]:9": "::1", "@": "unix", "": "unix", "/run/own name:1": "unix",
	} {
		r := &http.Request{RemoteAddr: remote, Header: http.Header{"X-Forwarded-For": {"10.9.9.9"}, "X-Real-Ip": {"10.9.9.9"}, "Forwarded": {"for=10.9.9.9"}}}
		if got := address(r); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
}

// A handler that panics answers 500 and harms nobody else. What it panicked with is not
// written down.
func TestPanics(t *testing.T) {
	var log logBuffer
	s, _ := start(t, Settings{Log: jsonLog(&log)})
	secret := []uint32{524242}
	early := s.guard(otherRoute, func(*Service, *answer, *http.Request) *problem { panic(fmt.Sprint("cell ", secret)) })
	late := s.guard(otherRoute, func(_ *Service, w *answer, _ *http.Request) *problem {
		io.WriteString(w, "part")
		return []*problem{}[secret[0]]
	})
	mux := http.NewServeMux()
	mux.Handle("/early", early)
	mux.Handle("/late", late)
	mux.Handle("/v1/", s.Public())
	web := httptest.NewServer(mux)
	defer web.Close()
	wantProblem(t, send(t, "GET", web.URL+"/early", nil), 500, "internal")
	answer, err := http.Get(web.URL + "/late")
	if err == nil {
		_, err = io.ReadAll(answer.Body)
		answer.Body.Close()
	}
	if err == nil {
		t.Error("part of an answer looks like a whole one")
	}
	if r := send(t, "GET", web.URL+"/v1/gallery", nil); r.status != 200 {
		t.Errorf("others get %d", r.status)
	}
	web.Close()
	if s.metrics.panics.Load() != 2 || s.placesTaken() != 0 || s.metrics.running.Load() != 0 {
		t.Errorf("%d panics are counted, %d places are taken, %d run", s.metrics.panics.Load(), s.placesTaken(), s.metrics.running.Load())
	}
	if text := log.String(); strings.Contains(text, "524242") || !strings.Contains(text, "TestPanics") {
		t.Errorf("the log has the value, or not the place:\n%s", text)
	}
}
