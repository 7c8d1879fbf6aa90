package service

import (
	"bytes"
	"io"
	"net/http/httptest"
	"testing"
	"time"
)

// A body has time by its length, and Read at most.
func TestBodyTime(t *testing.T) {
	s := Settings{Slowest: 1000, Read: time.Minute}
	for bytes, want := range map[int64]time.Duration{
		0: bodyGrace, 500: bodyGrace + time.Second/2, 20_000: bodyGrace + 20*time.Second, 1 << 40: time.Minute,
	} {
		if got := s.bodyTime(bytes); got != want {
			t.Errorf("%d bytes: %v, want %v", bytes, got, want)
		}
	}
	s.Read = time.Second
	if got := s.bodyTime(0); got != time.Second {
		t.Errorf("%v, and a request has a second", got)
	}
}

// deadlines is a ResponseWriter that notes until when may be read.
type deadlines struct {
	httptest.ResponseRecorder
	read []time.Time
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.read = append(d.read, at)
	return nil
}

// The deadline of a body moves with what has come of it, by the time that the next block needs at
// the slowest rate: whoever announces much and sends nothing is cut off as early as anybody.
func TestBodyDeadlines(t *testing.T) {
	s, err := New(Settings{Slowest: bodyBlock, Read: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	const length = 3*bodyBlock + bodyBlock/2
	w := &deadlines{ResponseRecorder: *httptest.NewRecorder()}
	r := httptest.NewRequest("POST", "/", io.NopCloser(bytes.NewReader(make([]byte, length))))
	r.Body = io.NopCloser(oneBlock{r.Body})
	begin := time.Now()
	body, err := s.readBody(s.newAnswer(w, r), r, length, length)
	if err != nil || len(body) != length {
		t.Fatalf("%d bytes, %v", len(body), err)
	}
	if len(w.read) != 4 {
		t.Fatalf("deadlines %v", w.read)
	}
	if first := w.read[0].Sub(begin); first < bodyGrace+time.Second || first > bodyGrace+time.Minute {
		t.Errorf("the first block has %v", first)
	}
	for i, want := range []time.Duration{time.Second, time.Second, time.Second / 2} {
		if got := w.read[i+1].Sub(w.read[i]); got != want {
			t.Errorf("block %d adds %v, want %v", i+2, got, want)
		}
	}
}

// oneBlock reads at most a block at a time.
type oneBlock struct{ io.Reader }

func (o oneBlock) Read(b []byte) (int, error) { return o.Reader.Read(b[:min(len(b), bodyBlock)]) }

// A refusal is sent although the body does not come, and the connection of one whose body has come
// can be used again.
func TestRefusalDoesNotWaitForTheBody(t *testing.T) {
	r := run(t, Settings{Read: time.Hour}, nil)
	c := dial(t, r.public, "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n")
	answer, err := io.ReadAll(c)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 404")) {
		t.Errorf("%q, %v", answer, err)
	}
	c = dial(t, r.public, "POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /v1/gallery HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	answer, err = io.ReadAll(c)
	if err != nil || !bytes.Contains(answer, []byte("HTTP/1.1 404")) || !bytes.Contains(answer, []byte("HTTP/1.1 200")) {
		t.Errorf("%q, %v", answer, err)
	}
}
