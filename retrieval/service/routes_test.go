package service

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// withLocal is the context of a request that came to an address.
func withLocal(t *testing.T, ip string) context.Context {
	return context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(ip)})
}

func recorded(method, url string) (*httptest.ResponseRecorder, *http.Request) {
	return httptest.NewRecorder(), httptest.NewRequest(method, url, nil)
}

// A path has one spelling. Others go through the guard as well: without a token they are 401, and
// they are counted and logged.
func TestUncleanPaths(t *testing.T) {
	var log logBuffer
	r := run(t, Settings{Tokens: writeTokens(t, "first-token-of-all\n"), Log: jsonLog(&log)}, nil)
	paths := []string{"//v1/gallery", "/v1//gallery", "/v1/./gallery", "/v1/../v1/gallery", "/v1/%2e/gallery", "/v1/%67allery", "/v1%2Fgallery", "/v1/gallery/", "/v1/gallery.", "/v1/gallery/..", "/.", "//", "/v1", "/V1/gallery"}
	for _, path := range paths {
		for header, want := range map[string]string{"": "401", "X-API-Key: first-token-of-all\r\n": "404"} {
			c := dial(t, r.public, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: a\r\n%sConnection: close\r\n\r\n", path, header))
			line := make([]byte, 12)
			if _, err := c.Read(line); err != nil || string(line) != "HTTP/1.1 "+want {
				t.Errorf("%s with %q: %q, %v, want %s", path, header, line, err, want)
			}
		}
	}
	r.stop()
	r.wait()
	if n := strings.Count(log.String(), `"route":"other"`); n != 2*len(paths) {
		t.Errorf("%d of them are in the log", n)
	}
}

// Parameters that cannot be read, that a path does not have or that come twice are 400. Whoever
// names a version in such a way must not get the newest.
func TestUnreadableParameters(t *testing.T) {
	s, web := start(t, Settings{})
	hash := s.versions[0].says.Codebook
	if got := send(t, "GET", web.URL+"/v1/gallery?codebook="+hash, nil); got.status != 200 {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, query := range []string{
		"codebook=", "codebook", "codebook=%zz", "codebook=" + hash + ";x=1", "codebook=" + hash + "&%zz", "codebook=" + hash[1:], "codebook=" + hash + "&codebook=" + hash,
		"Codebook=" + hash, "codebok=" + hash, "codebook=" + hash + "&epoch=" + hash, "codebook=" + strings.Repeat("g", 64), "x=1",
	} {
		for _, path := range []string{"/v1/gallery", "/v1/rows", "/v1/codebook", "/v1/base", "/v1/map"} {
			wantProblem(t, send(t, "GET", web.URL+path+"?"+query, nil), 400, "bad-parameter")
		}
	}
	for _, path := range []string{"/v1/cells?encoding=", "/v1/cells?encoding=int8&encoding=int8", "/v1/cells?codebook=" + hash, "/v1/sealed/ask?x"} {
		wantProblem(t, send(t, "POST", web.URL+path, strings.NewReader("x")), 400, "bad-parameter")
	}
	wantProblem(t, send(t, "GET", web.URL+"/?x=1", nil), 400, "bad-parameter")
}

// Every answer of both listeners has the headers that keep browsers from doing other things with it.
func TestProtectingHeaders(t *testing.T) {
	r := run(t, Settings{}, nil)
	for _, url := range []string{
		r.public + "/", r.public + "/v1/gallery", r.public + "/v1/rows", r.public + "/nowhere", r.public + "/v1/gallery?x", r.public + "/v1/cells",
		r.admin + "/", r.admin + "/metrics", r.admin + "/livez", r.admin + "/nowhere", r.admin + "/debug/pprof/",
	} {
		h := send(t, "GET", "http://"+url, nil).header
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": "default-src 'none'", "Cache-Control": "no-",
		} {
			if got := h.Get(name); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s is %q", url, name, got)
			}
		}
		if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "script-src") {
			t.Errorf("%s: %s", url, csp)
		}
	}
}
