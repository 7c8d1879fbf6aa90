package service

import (
	"net/http"
	"time"
)

// blockBytes is how much of an answer is written under one deadline.
const blockBytes = 256 << 10

// An answer is the http.ResponseWriter of a request. It counts, and it moves the deadline
// of the connection with what the client takes: a long answer has as long as it needs, a
// client that takes nothing has Settings.Stall, and one that takes little by little must
// reach Settings.Slowest on the whole.
type answer struct {
	http.ResponseWriter
	control *http.ResponseController
	stall   time.Duration
	slowest int64
	begin   time.Time
	due     int64 // bytes at which the deadline moves next
	status  int   // 0 before the head was written
	written int64
}

func (s *Service) newAnswer(w http.ResponseWriter) *answer {
	return &answer{ResponseWriter: w, control: http.NewResponseController(w), stall: s.settings.Stall, slowest: s.settings.Slowest, begin: time.Now()}
}

// Unwrap is for http.ResponseController.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= 200 {
		a.status = status
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter. It writes in blocks, each with a deadline of its
// own, from where the bytes are.
func (a *answer) Write(b []byte) (n int, err error) {
	if a.status == 0 {
		a.WriteHeader(http.StatusOK)
	}
	for {
		if a.written >= a.due {
			a.move()
		}
		block := b[n:min(len(b), n+blockBytes)]
		m, err := a.ResponseWriter.Write(block)
		n, a.written = n+m, a.written+int64(m)
		if err != nil || n == len(b) {
			return n, err
		}
	}
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

// restart gives the client its whole time to take the answer: what went before was the time
// of its body, which has a limit of its own, or ours.
func (a *answer) restart() {
	a.begin = time.Now()
	a.move()
}
