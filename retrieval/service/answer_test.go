package service

import (
	"bytes"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
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
				a := s.newAnswer(w)
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
	a := s.newAnswer(w)
	for range 8 * blockBytes / 1024 {
		if _, err := a.Write(make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	if w.deadlines != 8 {
		t.Errorf("%d deadlines for 8 blocks", w.deadlines)
	}
}
