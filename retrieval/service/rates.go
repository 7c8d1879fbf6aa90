package service

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxClients is how many clients have a rate of their own. The one that asked longest ago
// is forgotten first, and begins again when it comes back.
const maxClients = 1 << 16

// rates limit how often each client asks. nil limits nobody.
type rates struct {
	rate  rate.Limit
	burst int

	mu      sync.Mutex
	clients map[string]*list.Element // of *pace
	order   list.List                // the client that asked last in front
}

// A pace is the rate of one client.
type pace struct {
	client string
	*rate.Limiter
}

func newRates(perSecond float64, burst int) *rates {
	return &rates{rate: rate.Limit(perSecond), burst: burst, clients: map[string]*list.Element{}}
}

// wait returns 0 for a request that may be answered now, which is counted, and otherwise
// how long the client has to wait.
func (r *rates) wait(client string, now time.Time) time.Duration {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.clients[client]
	if e == nil {
		if r.order.Len() >= maxClients {
			oldest := r.order.Back()
			delete(r.clients, r.order.Remove(oldest).(*pace).client)
		}
		e = r.order.PushFront(&pace{client, rate.NewLimiter(r.rate, r.burst)})
		r.clients[client] = e
	}
	r.order.MoveToFront(e)
	next := e.Value.(*pace).ReserveN(now, 1)
	delay := next.DelayFrom(now)
	if delay > 0 {
		next.CancelAt(now)
	}
	return delay
}
