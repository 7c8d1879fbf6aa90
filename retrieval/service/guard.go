package service

import (
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"time"
)

// problemStall is how long a client may take nothing of a problem, which is some hundred bytes.
const problemStall = 5 * time.Second

// mostRefusals is how many requests may be told at a time that they are refused. Those beyond it are
// cut off. One of HTTP/1.1 is never, as there are as many as connections.
const mostRefusals = 4096

// guard returns the handler of a route with everything that all routes have: the limit of
// requests at a time, tokens, rates, deadlines, counts, a log record, and an answer for a
// handler that panics.
func (s *Service) guard(name string, serve func(*Service, *answer, *http.Request) *problem) http.Handler {
	counts := s.metrics.route(name)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		a := s.newAnswer(w, r)
		a.unlimited()
		protect(a.Header())
		s.metrics.running.Add(1)
		defer func() {
			s.metrics.running.Add(-1)
			thrown := recover()
			if thrown != nil && !errors.Is(asError(thrown), http.ErrAbortHandler) {
				s.metrics.panics.Add(1)
				s.settings.Log.Error("handler panicked", "route", name, "at", callers())
				if a.status == 0 {
					clearAnswer(a.Header())
					failed().write(a)
				} else {
					thrown = http.ErrAbortHandler // the reader must not take a part for the whole
				}
			}
			seconds := time.Since(begin)
			counts.done(a.status, a.written, seconds)
			s.settings.Log.Info("request", "route", name, "method", knownMethod(r.Method), "status", a.status, "bytes", a.written,
				"milliseconds", seconds.Milliseconds(), "client", address(r), "protocol", r.Proto)
			if thrown != nil && errors.Is(asError(thrown), http.ErrAbortHandler) {
				panic(http.ErrAbortHandler)
			}
		}()
		if p := s.admit(a, r, serve); p != nil {
			s.metrics.refuse(p.kind)
			client := address(r)
			if !s.refusals.tryEnter(client, 1) {
				panic(http.ErrAbortHandler)
			}
			defer s.refusals.leave(client, 1)
			clearAnswer(a.Header())
			discard(a, r)
			a.stall = min(a.stall, problemStall)
			p.write(a)
			a.taken()
		}
	})
}

// admit calls serve if the client may ask and there is a place for its request. Whoever is turned
// away takes no place.
func (s *Service) admit(a *answer, r *http.Request, serve func(*Service, *answer, *http.Request) *problem) *problem {
	client, known := s.settings.Tokens.client(r)
	if wait := s.rates.wait(client, time.Now()); wait > 0 {
		return tooOften(int((wait + time.Second - 1) / time.Second))
	}
	if !known {
		return unauthorized()
	}
	if !s.places.enter(r.Context(), client, 1) {
		return busy()
	}
	defer s.places.leave(client, 1)
	a.client = client
	p := serve(s, a, r)
	if p == nil {
		a.taken()
	}
	return p
}

// protections are the headers of every answer: browsers are to show it as what it is, in no frame
// and with nothing loaded into it, and to tell nobody where they have been.
var protections = [][2]string{
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
}

// protect sets the headers of every answer.
func protect(h http.Header) {
	for _, p := range protections {
		h.Set(p[0], p[1])
	}
}

// asError returns what was thrown if it is an error.
func asError(thrown any) error {
	err, _ := thrown.(error)
	return err
}

// callers returns the lines of code that led to a panic. A stack trace of package debug
// also has arguments, and a panic has a value: either may hold a cell of a request.
func callers() (lines []string) {
	pc := make([]uintptr, 32)
	frames := runtime.CallersFrames(pc[:runtime.Callers(4, pc)])
	for {
		f, more := frames.Next()
		if f.Function != "" {
			lines = append(lines, f.Function+":"+strconv.Itoa(f.Line))
		}
		if !more {
			return lines
		}
	}
}

// clearAnswer drops the headers of an answer that a problem takes the place of.
func clearAnswer(h http.Header) {
	for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control", "ETag", "Accept-Ranges"} {
		h.Del(name)
	}
}

// knownMethod returns a method that HTTP has, and "other" for words that a client made up.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch:
		return method
	}
	return "other"
}
