package service

import (
	"net/http"
	"time"
)

const (
	// blockBytes is how much of an answer is written under one deadline.
	blockBytes = 256 << 10
	// copiedBytes is how much of it is copied at a time where it must be.
	copiedBytes = 64 << 10
)

// An answer is the http.ResponseWriter of a request. It counts, and it moves the deadline
// of the connection with what the client takes: a long answer has as long as it needs, a
// client that takes nothing has Settings.Stall, and one that takes little by little must
// reach Settings.Slowest on the whole. Before the head is written there is no deadline: that
// is the time of the body, which has a limit of its own, or ours. HTTP/2 would end the
// request at the deadline, whether anybody writes or not.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	slowest int64
	// copies is set for HTTP/2. Its server may still read what was written when a Write has
	// failed and the handler is gone, and by then the memory of a gallery may be gone.
	copies  bool
	client  string    // who asked, as a key
	block   []byte    // the copy
	begin   time.Time // of the head
	due     int64     // bytes at which the deadline moves next
	status  int       // 0 before the head was written
	written int64
}

func (s *Service) newAnswer(w http.ResponseWriter, r *http.Request) *answer {
	return &answer{ResponseWriter: w, control: http.NewResponseController(w), stall: s.settings.Stall, slowest: s.settings.Slowest, copies: r.ProtoMajor > 1}
}

// unlimited ends the deadline of the server, which begins with the head of a request.
func (a *answer) unlimited() { _ = a.control.SetWriteDeadline(time.Time{}) }

// taken waits until the client has taken what was written, or its time is over. HTTP/2 would keep the
// end of an answer, and what belongs to its request, after the handler is gone.
func (a *answer) taken() {
	if a.copies {
		_ = a.control.Flush()
	}
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status, a.begin = status, time.Now()
		a.move()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. It writes in blocks, each with a deadline of its
// own, from where the bytes are or from a copy.
func (a *answer) Write(b []byte) (n int, err error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	for {
		if a.written >= a.due {
			a.move()
		}
		m, err := a.ResponseWriter.Write(a.next(b[n:]))
		n, a.written = n+m, a.written+int64(m)
		if err != nil {
			a.block = nil // somebody may still read it
			return n, err
		}
		if n == len(b) {
			return n, nil
		}
	}
}

// next returns the first block of bytes, or a copy of it.
func (a *answer) next(b []byte) []byte {
	if !a.copies {
		return b[:min(len(b), blockBytes)]
	}
	a.block = append(a.block[:0], b[:min(len(b), copiedBytes)]...)
	return a.block
}

// move sets the deadline of the next block. A writer without deadlines, such as that of a
// test, has none.
func (a *answer) move() {
	a.due = a.written + blockBytes
	stalled := time.Now().Add(a.stall)
	slow := a.begin.Add(a.stall + time.Duration(float64(a.due)/float64(a.slowest)*float64(time.Second)))
	if slow.Before(stalled) {
		stalled = slow
	}
	_ = a.control.SetWriteDeadline(stalled)
}
