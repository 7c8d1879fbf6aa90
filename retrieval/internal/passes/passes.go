// Package passes lets requests that wait share passes over a gallery of mode sealed, or over its
// records: one pass answers several requests in little more time than one.
//
//	shared := passes.New(gallery, passes.Settings{})
//	answer, err := shared.Answer(ctx, request) // of each client, concurrently
package passes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// ErrBusy reports that as many requests wait as may.
var ErrBusy = errors.New("too many requests wait")

// An Answerer answers requests that share a pass: a server.Gallery or server.Records.
type Answerer interface {
	// CheckRequest refuses a request that Answer would refuse.
	CheckRequest(request *wire.SealedRequest) error
	// Answer answers all requests, or none.
	Answer(ctx context.Context, requests ...*wire.SealedRequest) ([]*wire.SealedAnswer, error)
}

// Settings say which requests share a pass. Zero values mean the defaults.
type Settings struct {
	// Most is the number of requests of a pass; 0 means 16.
	Most int
	// Wait is how long a request waits for others when no pass is running; 0 means not at all.
	// Requests that come while a pass is running wait for its end anyway, and share the next
	// one.
	Wait time.Duration
	// Queue is how many requests may wait for a pass; 0 means 64.
	Queue int
	// Observe is called after each pass with its number of requests and how long it took; nil
	// when nobody listens.
	Observe func(requests int, took time.Duration)
}

// Shared lets requests that wait share passes. One pass runs at a time. It is safe for
// concurrent use.
type Shared struct {
	answerer Answerer
	settings Settings

	mu      sync.Mutex
	waiting []*waiter
	running bool          // somebody runs passes
	enough  chan struct{} // has an entry where as many wait as a pass takes, or nobody else will come
	closed  bool
	idle    *sync.Cond // of mu: nobody runs passes any more
}

// A waiter is a request that waits.
type waiter struct {
	request *wire.SealedRequest
	came    time.Time
	pass    *pass          // that it is in; nil before
	done    chan delivered // has room for one
}

type delivered struct {
	answer *wire.SealedAnswer
	err    error
}

// A pass ends early when everybody who waits for it has left.
type pass struct {
	members int
	cancel  context.CancelFunc
}

// New returns passes of a gallery or of records. Settings below 0 count as their
// defaults.
func New(a Answerer, settings Settings) *Shared {
	if settings.Most <= 0 {
		settings.Most = 16
	}
	if settings.Queue <= 0 {
		settings.Queue = 64
	}
	s := &Shared{answerer: a, settings: settings, enough: make(chan struct{}, 1)}
	s.idle = sync.NewCond(&s.mu)
	return s
}

// Answer answers a request in a pass with others. Errors are those of CheckRequest and Answer
// of the gallery, ErrBusy where as many requests wait as may, server.ErrClosed, and that of ctx, with
// which this request alone leaves.
func (s *Shared) Answer(ctx context.Context, request *wire.SealedRequest) (*wire.SealedAnswer, error) {
	if err := s.answerer.CheckRequest(request); err != nil {
		return nil, err // it would spoil the pass of others
	}
	w := &waiter{request: request, came: time.Now(), done: make(chan delivered, 1)}
	if err := s.join(w); err != nil {
		return nil, fmt.Errorf("sealed server: %w", err)
	}
	select {
	case d := <-w.done:
		return d.answer, d.err
	case <-ctx.Done():
		s.leave(w)
		return nil, fmt.Errorf("sealed server: %w", context.Cause(ctx))
	}
}

// Close refuses requests from now on with server.ErrClosed, and waits until those that wait are
// answered. They wait for no others any more.
func (s *Shared) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.sayEnough()
	for s.running {
		s.idle.Wait()
	}
	return nil
}

// join lets a request wait, and starts passes where none runs.
func (s *Shared) join(w *waiter) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return server.ErrClosed
	case len(s.waiting) >= s.settings.Queue:
		return ErrBusy
	}
	s.waiting = append(s.waiting, w)
	if !s.running {
		s.running = true
		go s.run()
	}
	if len(s.waiting) >= s.settings.Most {
		s.sayEnough()
	}
	return nil
}

// sayEnough lets the next pass begin at once.
func (s *Shared) sayEnough() {
	select {
	case s.enough <- struct{}{}:
	default: // it was said before
	}
}

// leave takes a request out, whose caller waits no longer.
func (s *Shared) leave(w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if w.pass == nil {
		s.waiting = slices.DeleteFunc(s.waiting, func(other *waiter) bool { return other == w })
		return
	}
	if w.pass.members--; w.pass.members == 0 {
		w.pass.cancel()
	}
}

// run runs passes until nobody waits.
func (s *Shared) run() {
	for {
		s.gather()
		ctx, members := s.begin()
		if members == nil {
			return
		}
		began := time.Now()
		answers, err := s.answer(ctx, members)
		members[0].pass.cancel()
		if s.settings.Observe != nil {
			s.settings.Observe(len(members), time.Since(began))
		}
		for i, w := range members {
			if err != nil {
				w.done <- delivered{err: err}
				continue
			}
			w.done <- delivered{answer: answers[i]}
		}
	}
}

// gather waits until a pass is full, or the first request has waited as long as it should.
func (s *Shared) gather() {
	s.mu.Lock()
	var left time.Duration
	if n := len(s.waiting); n > 0 && n < s.settings.Most && !s.closed {
		left = s.settings.Wait - time.Since(s.waiting[0].came)
		select {
		case <-s.enough: // of those that have left or were answered
		default:
		}
	}
	s.mu.Unlock()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.enough:
	}
}

// begin takes the requests of a pass, the oldest first. There are none where nobody waits;
// then running has ended.
func (s *Shared) begin() (context.Context, []*waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := min(len(s.waiting), s.settings.Most)
	if count == 0 {
		s.running = false
		s.idle.Broadcast()
		return nil, nil
	}
	members := slices.Clone(s.waiting[:count])
	s.waiting = slices.Delete(s.waiting, 0, count)
	ctx, cancel := context.WithCancel(context.Background())
	p := &pass{members: count, cancel: cancel}
	for _, w := range members {
		w.pass = p
	}
	return ctx, members
}

// answer answers the requests of a pass. A panic is an error to those who wait, and no end of
// the process.
func (s *Shared) answer(ctx context.Context, members []*waiter) (answers []*wire.SealedAnswer, err error) {
	defer par.Catch(&err)
	requests := make([]*wire.SealedRequest, len(members))
	for i, w := range members {
		requests[i] = w.request
	}
	return s.answerer.Answer(ctx, requests...)
}
