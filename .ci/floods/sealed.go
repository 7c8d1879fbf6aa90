package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// overload watches how many queries of mode sealed are answered a second with more and more
// connections, and what another client gets next to most of them. Each number of connections is
// watched once a round. Others may use the machine, so rates are compared within a round, and the
// median of the rounds counts.
func overload(s *server, watch time.Duration) ([]figure, error) {
	const rounds = 5
	var base, share100, share200 []float64
	for range rounds {
		rate64 := answersPerSecond(s, 64, watch/2)
		base = append(base, rate64)
		share100 = append(share100, answersPerSecond(s, 100, watch/2)/rate64)
		share200 = append(share200, answersPerSecond(s, 200, watch/2)/rate64)
	}
	end, _ := hammer(s, "/v1/sealed/ask", s.ask, 200)
	defer end()
	time.Sleep(time.Second)
	share, asked := answered(s, "/v1/sealed/ask", s.ask, watch)
	return []figure{
		{what: "rate at 64 connections", value: median(base), goal: 1, note: "a second, " + spread(base)},
		{what: "rate at 100 by that at 64", value: median(share100), goal: 0.9, note: spread(share100)},
		{what: "rate at 200 by that at 64", value: median(share200), goal: 0.9, note: spread(share200)},
		{what: "share of others that is answered next to 200", value: share, goal: 0.9, note: fmt.Sprintf("of %d", asked)},
	}, nil
}

// answersPerSecond is the rate at which a number of connections get answers.
func answersPerSecond(s *server, connections int, watch time.Duration) float64 {
	end, so := hammer(s, "/v1/sealed/ask", s.ask, connections)
	defer end()
	time.Sleep(time.Second)
	before, _, _ := so()
	began := time.Now()
	time.Sleep(watch)
	after, _, _ := so()
	return float64(after-before) / time.Since(began).Seconds()
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}

func spread(v []float64) string {
	return fmt.Sprintf("rounds from %.3g to %.3g", slices.Min(v), slices.Max(v))
}

// fullRoom sends long requests but for their last byte, more than there is room for.
func fullRoom(s *server, watch time.Duration) ([]figure, error) {
	before := s.resident()
	head := fmt.Sprintf("POST /v1/sealed/records/fetch HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", len(s.longest))
	end := crowd(512<<20/len(s.longest)+4, func(ctx context.Context) {
		c, err := connect(ctx, s)
		if err != nil {
			return
		}
		defer c.Close()
		go func() {
			if _, err := io.WriteString(c, head); err == nil {
				c.Write(s.longest[:len(s.longest)-1])
			}
		}()
		io.Copy(io.Discard, c)
	})
	defer end()
	time.Sleep(2 * time.Second)
	share, asked := answered(s, "/v1/sealed/records/fetch", s.fetch, watch)
	return []figure{
		{what: "share of others that is answered", value: share, goal: 0.9, note: fmt.Sprintf("of %d, next to bodies of %d MB", asked, len(s.longest)/1_000_000)},
		{what: "MB of memory more than before", value: s.resident() - before, goal: someMemory, below: true},
	}, nil
}
