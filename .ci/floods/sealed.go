package main

import (
	"context"
	"fmt"
	"io"
	"time"
)

// overload watches how many queries of mode sealed are answered a second with more and more
// connections, and what another client gets next to most of them. Each number of connections is
// watched three times, in turn, and the best time counts: others may use the machine.
func overload(s *server, watch time.Duration) ([]figure, error) {
	counts := []int{64, 100, 200}
	rates, notes := map[int]float64{}, map[int]string{}
	for range 3 {
		for _, n := range counts {
			end, so := hammer(s, "/v1/sealed/ask", s.ask, n)
			time.Sleep(time.Second)
			good, refused, lost := so()
			began := time.Now()
			time.Sleep(watch / 2)
			good2, refused2, lost2 := so()
			rate := float64(good2-good) / time.Since(began).Seconds()
			end()
			if rate >= rates[n] {
				rates[n] = rate
				notes[n] = fmt.Sprintf("%.0f a second, with %d refused and %d without an answer", rate, refused2-refused, lost2-lost)
			}
		}
	}
	end, _ := hammer(s, "/v1/sealed/ask", s.ask, 200)
	defer end()
	time.Sleep(time.Second)
	share, asked := answered(s, "/v1/sealed/ask", s.ask, watch)
	return []figure{
		{what: "rate at 64 connections", value: rates[64], goal: 1, note: notes[64]},
		{what: "rate at 100 by that at 64", value: rates[100] / rates[64], goal: 0.9, note: notes[100]},
		{what: "rate at 200 by that at 64", value: rates[200] / rates[64], goal: 0.9, note: notes[200]},
		{what: "share of others that is answered next to 200", value: share, goal: 0.9, note: fmt.Sprintf("of %d", asked)},
	}, nil
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
