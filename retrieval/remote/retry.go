package remote

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// The pauses between two tries.
const (
	shortestPause = 250 * time.Millisecond
	longestPause  = 8 * time.Second
)

// fetch sends an order until its answer is there, or no try is left. A try that gets 16 KiB
// further than all before it starts the count again. What comes again after it was forgotten
// does not: a server could keep us for ever by that.
func (s *Server) fetch(ctx context.Context, o *order, got *received) error {
	if o.exact > 0 && int64(len(got.data)) == o.exact && got.verify(o) == nil {
		return nil // a process was killed between the last byte and the end
	}
	o.room = s.room(o)
	return s.retry(ctx, func() int { return len(got.data) }, func() error { return s.try(ctx, o, got) })
}

// retry calls try until it succeeds, or none is left. reached says how far tries have got.
func (s *Server) retry(ctx context.Context, reached func() int, try func() error) error {
	furthest := reached()
	for failures := 0; ; {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		retry, ok := errors.AsType[*tryAgain](err)
		if !ok {
			return err
		}
		if now := reached(); now >= furthest+pace {
			failures, furthest = 0, now
		}
		failures++
		if failures >= s.settings.Tries || retry.after > s.settings.Wait {
			return retry.error
		}
		if err := s.pause(ctx, max(backoff(failures), later(retry.after))); err != nil {
			return err
		}
	}
}

// backoff returns a pause that doubles with each failure. Half of it is left to chance, so
// that clients that failed together do not come back together.
func backoff(failures int) time.Duration {
	d := min(shortestPause<<min(failures-1, 10), longestPause)
	return d/2 + rand.N(d/2)
}

// later returns a pause that a server asks for, and up to half as long again by chance. Clients
// that were refused together are all told the same, and would all come back together.
func later(after time.Duration) time.Duration { return after + rand.N(after/2+1) }

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// retryAfter reads the header Retry-After: seconds, or a date. What is neither is 0.
func retryAfter(header string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(header); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}
