package service

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"
)

// held waits until bodies of so many bytes are held.
func (r *room) held(t *testing.T, bytes int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		r.mu.Lock()
		taken := r.taken
		r.mu.Unlock()
		if taken == int64(bytes) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("bodies of %d bytes are held, want %d", taken, bytes)
		}
	}
}

// As many requests wait for a pass as may. Those whose bodies have not come keep nobody out.
func TestSealedQueue(t *testing.T) {
	s, g, web := startSealed(t, Settings{SealedQueue: 1, SealedWait: time.Hour})
	_, q := ask(t, g, 7)
	good := frameOf(t, q.Request())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	statuses := make(chan int, 5)
	var group sync.WaitGroup
	defer group.Wait()
	post := func(body io.Reader) {
		r, err := http.NewRequestWithContext(ctx, "POST", web.URL+"/v1/sealed/ask", body)
		if err != nil {
			t.Fatal(err)
		}
		r.ContentLength = int64(len(good))
		group.Go(func() {
			if answer, err := http.DefaultClient.Do(r); err == nil {
				answer.Body.Close()
				statuses <- answer.StatusCode
			}
		})
	}
	come := len(good) - 1
	for range 3 {
		body, w := io.Pipe()
		defer w.Close() // the transport reads the body to its end
		post(body)
		if _, err := w.Write(good[:come]); err != nil {
			t.Fatal(err)
		}
	}
	s.bodies.held(t, 3*come)
	post(bytes.NewReader(good))
	post(bytes.NewReader(good))
	if status := <-statuses; status != 503 {
		t.Errorf("%d for one of two requests, and one may wait", status)
	}
	s.bodies.held(t, 3*come+len(good)) // the other one waits
	cancel()
	s.bodies.held(t, 0)
}

// Of bodies and changes, which are long, there are as many at a time as there is room for.
func TestSealedRoom(t *testing.T) {
	s, g, web := startSealed(t, Settings{SealedBytes: 1000})
	_, q := ask(t, g, 7)
	good := frameOf(t, q.Request())
	post := func() reply { return send(t, "POST", web.URL+"/v1/sealed/ask", bytes.NewReader(good)) }
	others := 1000 - int64(len(good))
	if !s.bodies.take(0, others) {
		t.Fatal("no room from the beginning")
	}
	if r := post(); r.status != 200 {
		t.Errorf("%d, and there is room for the request", r.status)
	}
	s.bodies.held(t, int(others))
	if !s.bodies.take(others, 1) {
		t.Fatal("no room for one byte more")
	}
	wantProblem(t, post(), 503, "busy")
	s.bodies.give(others + 1)
	s.bodies.held(t, 0)

	small, _, other := startSealed(t, Settings{SealedBytes: 1})
	if r := send(t, "POST", other.URL+"/v1/sealed/ask", bytes.NewReader(good)); r.status != 200 {
		t.Errorf("%d for a request that is longer than the room, alone", r.status)
	}
	small.bodies.held(t, 0)

	for range s.settings.SealedMost {
		s.changes <- struct{}{}
	}
	changes := web.URL + "/v1/sealed/changes?since=0&to=0"
	wantProblem(t, send(t, "GET", changes, nil), 503, "busy")
	<-s.changes
	if r := send(t, "GET", changes, nil); r.status != 200 {
		t.Errorf("%d, and a slot is free", r.status)
	}
}
