package service

import (
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"time"
)

// guard returns the handler of a route with everything that all routes have: the limit of
// requests at a time, tokens, rates, deadlines, counts, a log record, and an answer for a
// handler that panics.
func (s *Service) guard(name string, serve func(*Service, *answer, *http.Request) *problem) http.Handler {
	counts := s.metrics.route(name)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begin := time.Now()
		a := s.newAnswer(w, r)
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
		if p := s.admit(r, func() *problem { return serve(s, a, r) }); p != nil {
			s.metrics.refuse(p.kind)
			clearAnswer(a.Header())
			p.write(a)
		}
	})
}

// admit calls serve if there is room for a request and the client may ask.
func (s *Service) admit(r *http.Request, serve func() *problem) *problem {
	if !enter(s.slots) {
		return busy()
	}
	defer leave(s.slots)
	client, known := s.settings.Tokens.client(r)
	if wait := s.rates.wait(client, time.Now()); wait > 0 {
		return tooOften(int((wait + time.Second - 1) / time.Second))
	}
	if !known {
		return unauthorized()
	}
	return serve()
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
	for _, name := range []string{"Content-Type", "Content-Length", "Cache-Control", "ETag", "Accept-Ranges", "X-Content-Type-Options"} {
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
