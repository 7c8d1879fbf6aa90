package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// bent is a service that does one thing wrong, whatever it is asked.
type bent struct {
	name string
	// serve answers with the body that is due.
	serve func(w http.ResponseWriter, r *http.Request, body []byte, kind string)
	want  error
	says  string
	tries int // that are made; 0 for any number
}

func sized(w http.ResponseWriter, kind string, n int) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", fmt.Sprint(n))
}

func bends() []bent {
	problem := func(status int, text string) func(http.ResponseWriter, *http.Request, []byte, string) {
		return func(w http.ResponseWriter, _ *http.Request, _ []byte, _ string) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(status)
			io.WriteString(w, text)
		}
	}
	return []bent{
		{"a page", func(w http.ResponseWriter, _ *http.Request, _ []byte, _ string) {
			w.Header().Set("Content-Type", "text/html")
			io.WriteString(w, "<!DOCTYPE html><html><body>Please log in to this network, and read on about what it is for.</body></html>")
		}, ErrResponse, "", 1},
		{"truncated", func(w http.ResponseWriter, _ *http.Request, body []byte, kind string) {
			sized(w, kind, len(body))
			w.Write(body[:len(body)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, ErrUnreachable, "cut off", 5},
		{"short", func(w http.ResponseWriter, _ *http.Request, body []byte, kind string) {
			sized(w, kind, len(body)-1)
			w.Write(body[:len(body)-1])
		}, ErrResponse, "", 1},
		{"short, without a length", func(w http.ResponseWriter, _ *http.Request, body []byte, kind string) {
			w.Header().Set("Content-Type", kind)
			w.(http.Flusher).Flush()
			w.Write(body[:len(body)-1])
		}, ErrResponse, "", 0},
		{"changed", func(w http.ResponseWriter, _ *http.Request, body []byte, kind string) {
			body = slices.Clone(body)
			body[len(body)/2] ^= 1
			sized(w, kind, len(body))
			w.Header().Set("ETag", `"`+strings.Repeat("ab", 32)+`"`)
			w.Write(body)
		}, ErrResponse, "", 5},
		{"compressed", func(w http.ResponseWriter, _ *http.Request, body []byte, kind string) {
			w.Header().Set("Content-Encoding", "gzip")
			sized(w, kind, len(body))
			w.Write(body)
		}, ErrResponse, "encoded", 1},
		{"partial", func(w http.ResponseWriter, _ *http.Request, body []byte, kind string) {
			sized(w, kind, len(body))
			w.WriteHeader(http.StatusPartialContent)
			w.Write(body)
		}, ErrResponse, "all was asked for", 1},
		{"empty", func(w http.ResponseWriter, _ *http.Request, _ []byte, kind string) { sized(w, kind, 0) }, ErrResponse, "", 1},
		{"redirect", func(w http.ResponseWriter, r *http.Request, _ []byte, _ string) {
			http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
		}, ErrResponse, "redirects are not followed", 1},
		{"no reason", func(w http.ResponseWriter, _ *http.Request, _ []byte, _ string) { http.Error(w, "<b>", 404) }, ErrRefused, "another service", 1},
		{"refused", problem(401, `{"type":"urn:privatemail:unauthorized","title":"No\u001b[31m\ntoken","detail":"`+strings.Repeat("x", 5000)+`"}`), ErrRefused, "No [31m token", 1},
		{"stale", problem(409, `{"type":"urn:privatemail:stale-codebook","codebook":"`+strings.Repeat("0f", 32)+`"}`), ErrStale, "it has 0f0f", 1},
		{"stale, no word", problem(409, `{"type":"urn:privatemail:stale-codebook","codebook":"zz"}`), ErrStale, "asked for", 1},
		{"panics", problem(500, `{"type":"urn:privatemail:internal","title":"It failed"}`), ErrRefused, "It failed", 1},
		{"busy", problem(503, `{"type":"urn:privatemail:busy","title":"Busy"}`), ErrRefused, "Busy", 5},
	}
}

// Whatever a server does wrong, there is an error that says so, within as many tries as
// make sense.
func TestBentAnswers(t *testing.T) {
	g := newThings(t, 1)
	for _, b := range bends() {
		for _, c := range calls() {
			if c.name == "map" && b.name == "empty" || c.name == "gallery" && b.name == "changed" {
				continue // there is no map; and JSON may be changed in a name
			}
			t.Run(b.name+"/"+c.name, func(t *testing.T) {
				var asked atomic.Int32
				s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					asked.Add(1)
					body, kind := g.body(r.URL.Path)
					b.serve(w, r, body, kind)
				}), Settings{Cache: t.TempDir()})
				err := c.do(t.Context(), s.Server, g)
				if !errors.Is(err, b.want) || !strings.Contains(fmt.Sprint(err), b.says) {
					t.Fatalf("%v, want %v that says %q", err, b.want, b.says)
				}
				if text := err.Error(); strings.ContainsAny(text, "\n\x1b") || len(text) > 600 {
					t.Errorf("the message is not a line: %q", text)
				}
				if n := int(asked.Load()); b.tries > 0 && n != b.tries {
					t.Errorf("%d tries, want %d", n, b.tries)
				}
			})
		}
	}
}

// A server that sends zeros for ever, or announces them, is left at once.
func TestZerosWithoutEnd(t *testing.T) {
	g := newThings(t, 1)
	for _, announce := range []string{"", "1073741824", "64"} {
		for _, c := range calls() {
			var sent atomic.Int64
			s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, kind := g.body(r.URL.Path)
				w.Header().Set("Content-Type", kind)
				if announce != "" {
					w.Header().Set("Content-Length", announce)
				}
				zeros := make([]byte, 1<<16)
				if announce == "64" {
					zeros = zeros[:64]
				}
				for range 1 << 14 {
					n, err := w.Write(zeros)
					sent.Add(int64(n))
					if err != nil {
						return
					}
				}
			}), Settings{})
			if err := c.do(t.Context(), s.Server, g); !errors.Is(err, ErrResponse) {
				t.Errorf("%s, announced %q: %v", c.name, announce, err)
			}
			// What was sent filled buffers of the system. The map has no length that is known,
			// and ends where a map is too long.
			if n := sent.Load(); c.name != "map" && n > 64<<20 {
				t.Errorf("%s, announced %q: %d bytes were taken", c.name, announce, n)
			}
		}
	}
}

// A length that is not announced is no trouble.
func TestNoLength(t *testing.T) {
	g := newThings(t, 1)
	s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, kind := g.body(r.URL.Path)
		w.Header().Set("Content-Type", kind)
		w.(http.Flusher).Flush()
		w.Write(body)
	}), Settings{})
	for _, c := range calls() {
		if err := c.do(t.Context(), s.Server, g); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// A message of the right kind and length that is not the one that is due.
func TestAnswersOfAnotherCodebook(t *testing.T) {
	g, other := newThings(t, 1), newThings(t, 2)
	s := reach(t, other, Settings{Codebook: g.hash})
	_, err := s.Codebook(t.Context())
	if stale, ok := errors.AsType[*StaleError](err); !ok || stale.Asked != g.hash || stale.Current != other.hash {
		t.Errorf("codebook: %v", err)
	}
	for _, c := range calls()[1:] {
		err := c.do(t.Context(), s.Server, g)
		switch c.name {
		case "base", "rows":
			if !errors.Is(err, ErrResponse) || !errors.Is(err, client.ErrAnswer) {
				t.Errorf("%s: %v", c.name, err)
			}
		case "cells": // Rank refuses it
			if err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := s.Base(t.Context(), wire.Hash{1}, wire.Int8); !errors.Is(err, wire.ErrCodebook) {
		t.Errorf("a codebook that nobody has: %v", err)
	}
	if _, err := s.Cells(t.Context(), nil, wire.Int8); !errors.Is(err, wire.ErrMessage) {
		t.Errorf("no request: %v", err)
	}
	if _, err := s.Cells(t.Context(), g.request, 9); !errors.Is(err, wire.ErrMessage) {
		t.Errorf("no encoding: %v", err)
	}
	if _, err := s.Base(t.Context(), g.hash, 9); !errors.Is(err, wire.ErrMessage) {
		t.Errorf("no encoding: %v", err)
	}
}

// Peers that are dead, silent, or too slow.
func TestDeadAndSlowPeers(t *testing.T) {
	g := newThings(t, 1)
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ended := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, kind := g.body(r.URL.Path)
		sized(w, kind, len(body))
		for i := range body { // a byte at a time, always before the time is over
			w.Write(body[i : i+1])
			w.(http.Flusher).Flush()
			select {
			case <-time.After(time.Millisecond):
			case <-r.Context().Done():
				return
			case <-ended:
				return
			}
		}
	}))
	defer slow.Close()
	defer close(ended)
	for name, address := range map[string]string{"dead": "http://" + dead.Addr().String(), "silent": "http://" + silent.Addr().String(), "slow": slow.URL} {
		s := reachAt(t, address, Settings{Stall: 30 * time.Millisecond, Tries: 2})
		s.books.add(g.hash, g.book)
		if _, err := s.Cells(t.Context(), g.request, wire.Float32); !errors.Is(err, ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
		if len(s.pauses) != 1 {
			t.Errorf("%s: %d pauses", name, len(s.pauses))
		}
	}
}

// A context ends a call at once, whatever it waits for.
func TestContextEndsACall(t *testing.T) {
	g := newThings(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	s := reach(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sized(w, "application/octet-stream", len(g.rows))
		w.Write(g.rows[:200])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}), Settings{})
	s.books.add(g.hash, g.book)
	if _, err := s.Gallery(ctx, g.hash); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(s.pauses) != 0 {
		t.Error("it was tried again")
	}
	// In the pause between two tries as well.
	busy := reach(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }), Settings{})
	ctx, cancel = context.WithCancel(t.Context())
	busy.pause = func(ctx context.Context, _ time.Duration) error {
		cancel()
		return pause(ctx, time.Hour)
	}
	if _, err := busy.Codebook(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
