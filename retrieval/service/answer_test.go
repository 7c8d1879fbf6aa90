package service

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A paced writer takes each block in a given time and notes deadlines.
type paced struct {
	header    http.Header
	pause     time.Duration
	deadline  time.Time
	took      bytes.Buffer
	deadlines int
	longest   int
}

func (p *paced) Header() http.Header { return p.header }
func (p *paced) WriteHeader(int)     {}

func (p *paced) SetWriteDeadline(at time.Time) error {
	p.deadline = at
	p.deadlines++
	return nil
}

var errLate = errors.New("the deadline is over")

func (p *paced) Write(b []byte) (int, error) {
	time.Sleep(p.pause)
	if time.Now().After(p.deadline) {
		return 0, errLate
	}
	p.longest = max(p.longest, len(b))
	return p.took.Write(b)
}

// An answer goes out in blocks from where it is. Whoever takes blocks in time gets all of
// it, however long that takes; who takes none in time, or too few on the whole, is cut off.
func TestAnswerDeadlines(t *testing.T) {
	const blocks = 40
	data := bytes.Repeat([]byte("0123456789abcdef"), blocks*blockBytes/16)
	for name, c := range map[string]struct {
		pause   time.Duration
		slowest int64
		want    bool
	}{
		"fast":                    {0, 1 << 10, true},
		"slow, in time":           {900 * time.Millisecond, blockBytes, true},
		"a block takes too long":  {2100 * time.Millisecond, 1, false},
		"too slow on the whole":   {1500 * time.Millisecond, blockBytes, false},
		"the same, and it may be": {1500 * time.Millisecond, blockBytes / 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Service{settings: Settings{Stall: 2 * time.Second, Slowest: c.slowest}}
				w := &paced{header: http.Header{}, pause: c.pause}
				a := s.newAnswer(w, httptest.NewRequest("GET", "/", nil))
				n, err := a.Write(data)
				if (err == nil) != c.want || c.want && (n != len(data) || !bytes.Equal(w.took.Bytes(), data)) || !c.want && !errors.Is(err, errLate) {
					t.Errorf("%d of %d bytes, %v", n, len(data), err)
				}
				if a.status != 200 || a.written != int64(n) || w.longest > blockBytes || c.want && w.deadlines != blocks {
					t.Errorf("status %d, %d bytes, blocks up to %d, %d deadlines", a.status, a.written, w.longest, w.deadlines)
				}
			})
		})
	}
}

// Many small writes, as of a gathered answer, do not move the deadline each.
func TestAnswerMovesByBlock(t *testing.T) {
	s := &Service{settings: Settings{Stall: time.Second, Slowest: 1}}
	w := &paced{header: http.Header{}}
	a := s.newAnswer(w, httptest.NewRequest("GET", "/", nil))
	for range 8 * blockBytes / 1024 {
		if _, err := a.Write(make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	if w.deadlines != 8 {
		t.Errorf("%d deadlines for 8 blocks", w.deadlines)
	}
}

// A sink takes an answer and keeps nothing.
type sink struct {
	header http.Header
	bytes  int
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Write(b []byte) (int, error) {
	s.bytes += len(b)
	return len(b), nil
}

// Requests take a small part of the memory of their answers, whether these were encoded
// beforehand or are gathered.
func TestAnswersAreStreamed(t *testing.T) {
	x := blas64.General{Rows: 4096, Cols: 64, Stride: 64, Data: make([]float64, 4096*64)}
	for i := range x.Data {
		x.Data[i] = float64((i*7919)%1009) / 1009
	}
	for name, encoded := range map[string]int64{"encoded": 0, "gathered": -1} {
		cells, err := server.NewCells(t.Context(), x, x, server.CellsSettings{Cells: 4, Share: 0.5, Encoded: encoded})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Publish(Offer{Cells: cells}); err != nil {
			t.Fatal(err)
		}
		public, body := s.Public(), s.frame(t, 1)
		ask := func() {
			w := &sink{header: http.Header{}}
			public.ServeHTTP(w, httptest.NewRequest("POST", "/v1/cells", bytes.NewReader(body)))
			if want := cells.Codebook().AnswerBytes(wire.Float32); int64(w.bytes) != want || want < 1<<19 {
				t.Fatalf("%d bytes, want %d", w.bytes, want)
			}
		}
		ask() // what is kept between requests is made by the first
		const requests = 50
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range requests {
			ask()
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / requests; each > 128<<10 {
			t.Errorf("%s: %d bytes of memory for an answer of %d", name, each, cells.Codebook().AnswerBytes(wire.Float32))
		}
		s.Close()
	}
}

// An orderly writer notes in which order things happen, and keeps what it was given, as the
// server of HTTP/2 may.
type orderly struct {
	header http.Header
	events []string
	given  [][]byte
	fail   bool
}

func (o *orderly) Header() http.Header { return o.header }
func (o *orderly) WriteHeader(int)     { o.events = append(o.events, "head") }

func (o *orderly) SetWriteDeadline(at time.Time) error {
	event := "deadline"
	if at.IsZero() {
		event = "no deadline"
	}
	o.events = append(o.events, event)
	return nil
}

func (o *orderly) Write(b []byte) (int, error) {
	o.given = append(o.given, b)
	if o.fail {
		return 0, errLate
	}
	return len(b), nil
}

// An eventful body notes that it is read.
type eventful struct {
	io.Reader
	to *orderly
}

func (e eventful) Read(b []byte) (int, error) {
	e.to.events = append(e.to.events, "body")
	return e.Reader.Read(b)
}

// A deadline is set with the head of the answer and not before: HTTP/2 ends a request at
// its deadline while the body still comes, or while an answer is computed.
func TestNoDeadlineBeforeTheAnswer(t *testing.T) {
	s, _ := start(t, Settings{})
	w := &orderly{header: http.Header{}}
	r := httptest.NewRequest("POST", "/v1/cells", eventful{bytes.NewReader(s.frame(t, 1)), w})
	s.Public().ServeHTTP(w, r)
	events := slices.Compact(w.events)
	if len(events) < 4 || !slices.Equal(events[:4], []string{"no deadline", "body", "deadline", "head"}) {
		t.Errorf("%q", events)
	}
}

// HTTP/2 gets copies, and after a failure nobody writes to the copy that it may still read.
func TestAnswerIsCopiedForHTTP2(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef"), blockBytes/16)
	for _, major := range []int{1, 2} {
		r := httptest.NewRequest("GET", "/", nil)
		r.ProtoMajor = major
		w := &orderly{header: http.Header{}}
		a := (&Service{settings: Settings{Stall: time.Second, Slowest: 1}}).newAnswer(w, r)
		if n, err := a.Write(data); n != len(data) || err != nil {
			t.Errorf("HTTP/%d: %d bytes, %v", major, n, err)
		}
		if own := &w.given[0][0] == &data[0]; own != (major == 1) {
			t.Errorf("HTTP/%d: written from where it is: %t", major, own)
		}
		w.fail = true
		for range 2 {
			if _, err := a.Write(data); !errors.Is(err, errLate) {
				t.Errorf("HTTP/%d: %v", major, err)
			}
		}
		if n := len(w.given); major == 2 && &w.given[n-1][0] == &w.given[n-2][0] {
			t.Error("a copy is used again after a failure")
		}
	}
}

// An answer that cannot be written to its end is cut off, and not ended as if it were whole.
func TestAnswerIsCutOff(t *testing.T) {
	s, _ := start(t, Settings{})
	w := &orderly{header: http.Header{}, fail: true}
	defer func() {
		if thrown := recover(); thrown != http.ErrAbortHandler || s.placesTaken() != 0 {
			t.Errorf("%v, and %d places are taken", thrown, s.placesTaken())
		}
	}()
	s.Public().ServeHTTP(w, httptest.NewRequest("POST", "/v1/cells", bytes.NewReader(s.frame(t, 1))))
}
