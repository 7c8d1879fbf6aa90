package service

import (
	"bufio"
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// The time of a body is over when all of it is there: what is computed then may take longer.
func TestBodyTimeEndsWithTheBody(t *testing.T) {
	s, g, _ := startSealed(t, Settings{Read: 100 * time.Millisecond, SealedWait: 400 * time.Millisecond})
	server := httptest.NewUnstartedServer(nil)
	server.Config = s.newServer(s.Public())
	server.Start()
	defer server.Close()
	_, q := ask(t, g, 7)
	if r := send(t, "POST", server.URL+"/v1/sealed/ask", bytes.NewReader(frameOf(t, q.Request()))); r.status != 200 {
		t.Errorf("%d for an answer that takes longer than its body may", r.status)
	}
}

// What no route has goes through the guard as well.
func TestOptionsOfAll(t *testing.T) {
	r := run(t, Settings{Tokens: writeTokens(t, "first-token-of-all\n")}, nil)
	c := dial(t, r.public, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 401 {
		t.Errorf("%d", answer.StatusCode)
	}
}

// Bodies of no bytes take no room, and nobody is forgotten who is still there.
func TestRoomOfNothing(t *testing.T) {
	r := newRoom(10, 0.5)
	for range 2 {
		if !r.enter(t.Context(), "a", 0) {
			t.Fatal("no room for nothing")
		}
	}
	for range 2 {
		r.leave("a", 0)
	}
	if n, waiting := r.load(); n != 0 || waiting != 0 || len(r.clients) != 0 {
		t.Error(n, waiting, len(r.clients))
	}
}
