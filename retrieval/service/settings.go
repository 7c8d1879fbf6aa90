package service

import (
	"fmt"
	"log/slog"
	"math"
	"time"
)

// Settings say how a service behaves. Zero values mean the defaults.
type Settings struct {
	// Tokens are who may ask; nil lets everyone ask.
	Tokens *Tokens
	// MaxRequests is how many requests of the public listener run at a time. Those beyond
	// it wait for a second, unread, and then get 503. 0 means 256.
	MaxRequests int
	// Share is how much one client may have of everything that there is a limit of: requests,
	// connections, questions, places and bytes of mode sealed. 0 means a quarter, 1 all.
	Share float64
	// MaxConnections is how many connections the public listener has at a time. Those beyond it
	// are closed. 0 means 16 MaxRequests, or what the limit of open files of the process leaves.
	MaxConnections int
	// SealedMost is how many requests of mode sealed may share a pass over the gallery or over the
	// records, and how many requests for changes, which may be as long as a hint, run at a
	// time. 0 means 16.
	SealedMost int
	// SealedBytes is how much the bodies of requests of mode sealed may take at a time, from
	// before they are read until their requests are answered. What a front end takes for answers
	// counts as well. What has no room gets 503; one request always has. 0 means 512 MiB.
	SealedBytes int64
	// SealedWait is how long a pass waits for further requests to share it. 0 means not at
	// all: those share the next pass that come while one runs.
	SealedWait time.Duration
	// SealedQueue is how many requests of mode sealed about the gallery are read, wait for a pass
	// or are in one at a time, and how many about the records. Those beyond it wait for a second,
	// unread, and then get 503. 0 means 128.
	SealedQueue int
	// Rate is how many requests a second a client may send in the long run; 0 means no
	// limit. A client is who has a token, or an address where there are no tokens.
	Rate float64
	// Burst is how many requests a client may send at once under a Rate. 0 means 2 Rate,
	// and at least 8.
	Burst int
	// Drain is how long a replaced version of the gallery answers requests that name its
	// codebook. 0 means 10 minutes, a negative time none.
	Drain time.Duration
	// Header, Read and Idle are the times for the head of a request, for its body at most,
	// and between two requests of a connection. A body also has to come at the rate of Slowest,
	// after 5 seconds. 0 means 10 s, 30 s and 2 minutes.
	Header, Read, Idle time.Duration
	// Stall is how long a client may take nothing of an answer, and the time that every
	// answer has in addition to what Slowest allows. 0 means 30 s.
	Stall time.Duration
	// Slowest is the mean rate, in bytes a second, below which the reader of an answer and the
	// sender of a body are cut off. 0 means 16 KiB.
	Slowest int64
	// Delay is how long the service goes on to answer after it says that it is not ready,
	// so that a balancer can look elsewhere. 0 means that it does not wait.
	Delay time.Duration
	// Shutdown is how long requests that run have to end. 0 means 30 s.
	Shutdown time.Duration
	// Shards, if not nil, says what a front end knows of its shards. The service is not ready
	// before all of them are.
	Shards func() []ShardState
	// Log gets a record for each request and each change; nil means nowhere.
	Log *slog.Logger
	// Release is the version of the program, for the status page and the metrics.
	Release string
}

// withDefaults returns the settings with all numbers set.
func (s Settings) withDefaults() (Settings, error) {
	for _, n := range []struct {
		name     string
		at       *int
		standard int
	}{{"MaxRequests", &s.MaxRequests, 256}, {"SealedMost", &s.SealedMost, 16}, {"SealedQueue", &s.SealedQueue, 128}, {"MaxConnections", &s.MaxConnections, 0}} {
		if *n.at < 0 {
			return s, fmt.Errorf("service: %w: %s is %d", ErrSettings, n.name, *n.at)
		}
		if *n.at == 0 {
			*n.at = n.standard
		}
	}
	for _, n := range []struct {
		name     string
		at       *int64
		standard int64
	}{{"SealedBytes", &s.SealedBytes, 512 << 20}, {"Slowest", &s.Slowest, 16 << 10}} {
		if *n.at < 0 {
			return s, fmt.Errorf("service: %w: %s is %d", ErrSettings, n.name, *n.at)
		}
		if *n.at == 0 {
			*n.at = n.standard
		}
	}
	for _, d := range []struct {
		name     string
		at       *time.Duration
		standard time.Duration
	}{
		{"Header", &s.Header, 10 * time.Second}, {"Read", &s.Read, 30 * time.Second}, {"Idle", &s.Idle, 2 * time.Minute},
		{"Stall", &s.Stall, 30 * time.Second}, {"Delay", &s.Delay, 0}, {"SealedWait", &s.SealedWait, 0}, {"Shutdown", &s.Shutdown, 30 * time.Second},
	} {
		if *d.at < 0 {
			return s, fmt.Errorf("service: %w: %s is %v", ErrSettings, d.name, *d.at)
		}
		if *d.at == 0 {
			*d.at = d.standard
		}
	}
	if !(s.Share >= 0 && s.Share <= 1) {
		return s, fmt.Errorf("service: %w: a Share of %g", ErrSettings, s.Share)
	}
	if s.Share == 0 {
		s.Share = 0.25
	}
	if s.MaxConnections == 0 {
		s.MaxConnections = min(16*s.MaxRequests, descriptorsLeft())
	}
	if !(s.Rate >= 0) || math.IsInf(s.Rate, 1) || s.Burst < 0 || s.Burst > 0 && s.Rate == 0 {
		return s, fmt.Errorf("service: %w: a Rate of %g with a Burst of %d", ErrSettings, s.Rate, s.Burst)
	}
	if s.Rate > 0 && s.Burst == 0 {
		s.Burst = int(max(8, math.Ceil(min(2*s.Rate, math.MaxInt32))))
	}
	if s.Drain == 0 {
		s.Drain = 10 * time.Minute
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	return s, nil
}
