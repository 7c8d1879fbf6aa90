package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Addresses of clients.
const (
	hostile = "127.0.0.1"
	polite  = "127.0.0.2"
)

// dialer connects from an address.
func dialer(from string) *net.Dialer {
	return &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 5 * time.Second}
}

// A client has an address and connections of its own.
func newClient(from string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: dialer(from).DialContext, DisableCompression: true}, Timeout: 5 * time.Second}
}

// post sends a request and returns the status, 0 for no whole answer.
func post(ctx context.Context, c *http.Client, url string, body []byte) int {
	method, from := http.MethodGet, io.Reader(nil)
	if body != nil {
		method, from = http.MethodPost, bytes.NewReader(body)
	}
	r, err := http.NewRequestWithContext(ctx, method, url, from)
	if err != nil {
		return 0
	}
	answer, err := c.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0
	}
	return answer.StatusCode
}

// answered asks politely, one request after the other with a pause, and returns the share that was
// answered and how many there were.
func answered(s *server, path string, body []byte, watch time.Duration) (share float64, asked int) {
	c := newClient(polite)
	defer c.CloseIdleConnections()
	good := 0
	for end := time.Now().Add(watch); time.Now().Before(end) || asked < 10; asked++ {
		if post(context.Background(), c, "http://"+s.public+path, body) == http.StatusOK {
			good++
		}
		time.Sleep(watch / 40)
	}
	return float64(good) / float64(asked), asked
}

// crowd calls one on many goroutines, again and again, until the returned function ends them.
func crowd(count int, one func(ctx context.Context)) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for range count {
		all.Go(func() {
			for ctx.Err() == nil {
				one(ctx)
				time.Sleep(time.Millisecond)
			}
		})
	}
	return func() {
		cancel()
		all.Wait()
	}
}

// hammer sends a request over many connections of one client without a pause. The returned
// function reports how many were answered and refused so far.
func hammer(s *server, path string, body []byte, connections int) (end func(), counts func() (good, refused, lost int64)) {
	var good, refused, lost atomic.Int64
	clients := make(chan *http.Client, connections)
	for range connections {
		clients <- newClient(hostile)
	}
	stop := crowd(connections, func(ctx context.Context) {
		c := <-clients
		defer func() { clients <- c }()
		for ctx.Err() == nil {
			switch post(ctx, c, "http://"+s.public+path, body) {
			case http.StatusOK:
				good.Add(1)
			case 0:
				lost.Add(1)
			default:
				refused.Add(1)
			}
		}
	})
	return func() {
			stop()
			for range connections {
				(<-clients).CloseIdleConnections()
			}
		}, func() (int64, int64, int64) {
			return good.Load(), refused.Load(), lost.Load()
		}
}
