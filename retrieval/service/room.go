package service

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"
)

// patience is how long a request waits for a place before it is refused. Nothing of its body is
// read meanwhile.
const patience = time.Second

// A room has places that requests take and give back: one each, or one for each byte. No client
// has more than its share, so that others always find some.
type room struct {
	most, share int64
	// line is how many requests may wait, and lineShare how many of one client.
	line, lineShare int64
	patience        time.Duration

	mu      sync.Mutex
	taken   int64
	waiting int64              // requests
	clients map[string]*tenant // those who have places or wait
	turns   []*tenant          // those who wait and may have more, the one whose turn it is in front
}

// A tenant is what a client has of a room.
type tenant struct {
	client  string
	taken   int64
	waiting []*visitor // the one that came first in front
	inTurns bool
}

// A visitor is a request that waits for places.
type visitor struct {
	of    *tenant
	wants int64
	come  chan struct{} // closed when it has them
}

// newRoom returns a room of the given number of places, of which a client may have a share between 0 and 1.
// Four times as many requests may wait.
func newRoom(most int64, share float64) *room {
	part := func(n int64) int64 { return max(1, int64(math.Ceil(float64(n)*share))) }
	line := 4 * min(most, math.MaxInt32)
	return &room{most: most, share: part(most), line: line, lineShare: part(line), patience: patience, clients: map[string]*tenant{}}
}

// enter takes places for a client. Where there are none it waits for them, and returns false when
// it has waited long enough, or when too many wait. leave follows where it returns true.
func (r *room) enter(ctx context.Context, client string, wants int64) bool {
	v := r.arrive(client, wants)
	if v == nil {
		return false
	}
	select {
	case <-v.come:
		return true
	default:
	}
	timer := time.NewTimer(r.patience)
	defer timer.Stop()
	select {
	case <-v.come:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return !r.goAway(v)
}

// tryEnter is enter without waiting.
func (r *room) tryEnter(client string, wants int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenant(client)
	if len(r.turns) > 0 || !r.fits(wants) || !r.mayHave(t, wants) {
		r.forget(t)
		return false
	}
	r.give(t, wants)
	return true
}

// arrive has a request wait, and lets in who can be. It returns nil where too many wait.
func (r *room) arrive(client string, wants int64) *visitor {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenant(client)
	if r.waiting >= r.line || int64(len(t.waiting)) >= r.lineShare {
		r.forget(t)
		return nil
	}
	v := &visitor{t, wants, make(chan struct{})}
	t.waiting = append(t.waiting, v)
	r.waiting++
	r.queue(t)
	r.admit()
	return v
}

// goAway ends that a request waits. It returns false for one that has its places by now.
func (r *room) goAway(v *visitor) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := v.of
	i := slices.Index(t.waiting, v)
	if i < 0 {
		return false
	}
	t.waiting = slices.Delete(t.waiting, i, i+1)
	r.waiting--
	if i == 0 && t.inTurns { // its client had the turn
		t.inTurns = false
		r.turns = slices.DeleteFunc(r.turns, func(o *tenant) bool { return o == t })
	}
	r.forget(t)
	r.queue(t) // the one behind it may want less
	r.admit()  // those behind it may fit where it did not
	return true
}

// leave gives places back.
func (r *room) leave(client string, has int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.tenant(client) // who has 0 places may be forgotten by now
	r.taken -= has
	t.taken -= has
	r.forget(t)
	r.queue(t)
	r.admit()
}

// queue has a client take its turn if it waits and may have what it waits for. What those wait for
// who have their share costs nobody else any time. The lock is held.
func (r *room) queue(t *tenant) {
	if !t.inTurns && len(t.waiting) > 0 && r.mayHave(t, t.waiting[0].wants) {
		t.inTurns = true
		r.turns = append(r.turns, t)
	}
}

// admit lets in those who wait: one request of each client in turn, and those of a client in their
// order. Where the next one does not fit, those behind it wait as well: many small ones would keep
// a large one out for ever. The lock is held.
func (r *room) admit() {
	for len(r.turns) > 0 {
		t := r.turns[0]
		v := t.waiting[0]
		may := r.mayHave(t, v.wants)
		if may && !r.fits(v.wants) {
			return
		}
		r.turns, t.inTurns = slices.Delete(r.turns, 0, 1), false
		if may {
			t.waiting = slices.Delete(t.waiting, 0, 1)
			r.waiting--
			r.give(t, v.wants)
			close(v.come)
		}
		r.queue(t)
	}
}

// fits reports whether there are places. One request always has some: it may want more than there
// are.
func (r *room) fits(wants int64) bool { return r.taken == 0 || wants <= r.most-r.taken }

// mayHave reports whether a client may have places, with those that it has.
func (r *room) mayHave(t *tenant, wants int64) bool { return t.taken == 0 || wants <= r.share-t.taken }

// give gives places to a client. The lock is held.
func (r *room) give(t *tenant, wants int64) {
	t.taken += wants
	r.taken += wants
}

// tenant returns what a client has. forget follows where it may be nothing. The lock is held.
func (r *room) tenant(client string) *tenant {
	t := r.clients[client]
	if t == nil {
		t = &tenant{client: client}
		r.clients[client] = t
	}
	return t
}

// forget forgets a client who has nothing and does not wait. The lock is held.
func (r *room) forget(t *tenant) {
	if t.taken == 0 && len(t.waiting) == 0 {
		delete(r.clients, t.client)
	}
}

// load returns how many places are taken, and how many requests wait.
func (r *room) load() (taken, waiting int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.taken, r.waiting
}
