package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// MB that one client may cost. Bodies that nobody reads are kept up to the windows of a client's 1024
// connections, 256 KiB each; the collector lets as much again gather, and connections take some. Package
// http takes some kilobytes for each of their 65,536 streams of HTTP/2 until it can be reset.
const (
	someMemory   = 400
	windowMemory = 600
	streamMemory = 1200
)

// placesTaken watches what others get, and what it costs, while one client tries to take all places.
func placesTaken(start func(*server) (end func()), memory float64) func(*server, time.Duration) ([]figure, error) {
	return func(s *server, watch time.Duration) ([]figure, error) {
		before := s.resident()
		end := start(s)
		defer end()
		time.Sleep(2 * time.Second)
		share, asked := answered(s, "/v1/cells?encoding=int8", s.cells, watch)
		return []figure{
			{what: "share of others that is answered", value: share, goal: 0.9, note: fmt.Sprintf("of %d", asked)},
			{what: "MB of memory more than before", value: s.resident() - before, goal: memory, below: true},
		}, nil
	}
}

// connect returns a connection that ends with the context.
func connect(ctx context.Context, s *server) (net.Conn, error) {
	c, err := dialer(hostile).DialContext(ctx, "tcp", s.public)
	if err == nil {
		context.AfterFunc(ctx, func() { c.Close() })
	}
	return c, err
}

// silentBodies announce a body and do not send it.
func silentBodies(s *server) func() {
	head := fmt.Sprintf("POST /v1/cells HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", len(s.cells))
	return crowd(256, func(ctx context.Context) {
		c, err := connect(ctx, s)
		if err != nil {
			return
		}
		defer c.Close()
		if _, err := io.WriteString(c, head); err == nil {
			io.Copy(io.Discard, c)
		}
	})
}

// slowReaders take all rows, 16 KiB a second.
func slowReaders(s *server) func() {
	return crowd(256, func(ctx context.Context) {
		c, err := connect(ctx, s)
		if err != nil {
			return
		}
		defer c.Close()
		c.(*net.TCPConn).SetReadBuffer(8 << 10)
		if _, err := io.WriteString(c, "GET /v1/rows HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			return
		}
		for ctx.Err() == nil {
			if _, err := io.CopyN(io.Discard, c, 1700); err != nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

// closedWindows are streams of HTTP/2 whose windows are 0.
func closedWindows(s *server) func() { return streamsWithoutWindow(s, 4, get2("/v1/rows")) }

// shortAnswers are answers of some hundred bytes on as many streams as there can be, whose windows are 0.
func shortAnswers(s *server) func() { return streamsWithoutWindow(s, many, get2("/v1/gallery")) }

// wrongHeads have a field that HTTP/2 does not have.
func wrongHeads(s *server) func() {
	head := append(append(append(get2("/"), 0, 10), "connection"...), 5)
	return streamsWithoutWindow(s, many, append(head, "close"...))
}

// streamsWithoutWindow sends a head on 64 streams of each of many connections, and again on a new one
// for each that is reset.
func streamsWithoutWindow(s *server, count int, request []byte) func() {
	return crowd(count, func(ctx context.Context) {
		c, err := connect(ctx, s)
		if err != nil {
			return
		}
		defer c.Close()
		text := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame2(4, 0, 0, []byte{0, 4, 0, 0, 0, 0})...)
		next := uint32(1)
		open := func() {
			text = append(text, frame2(1, 5, next, request)...)
			next += 2
		}
		for range 64 {
			open()
		}
		from, head := bufio.NewReader(c), make([]byte, 9)
		for {
			if _, err := c.Write(text); err != nil {
				return
			}
			text = text[:0]
			if _, err := io.ReadFull(from, head); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, from, int64(binary.BigEndian.Uint32(head)>>8)); err != nil {
				return
			}
			if kind, flags := head[3], head[4]; kind == 3 { // a stream was reset
				open()
			} else if kind == 4 && flags == 0 {
				text = append(text, frame2(4, 1, 0, nil)...)
			}
		}
	})
}

// frame2 returns a frame of HTTP/2.
func frame2(kind, flags byte, stream uint32, payload []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = append(b, flags)
	return append(binary.BigEndian.AppendUint32(b, stream), payload...)
}

// get2 returns the head of a GET, in fields that are not compressed.
func get2(path string) (head []byte) {
	head = []byte{0x82, 0x86} // GET, http
	for _, field := range [][2]string{{":path", path}, {":authority", "a"}} {
		head = append(head, 0)
		for _, text := range field {
			head = append(append(head, byte(len(text))), text...)
		}
	}
	return head
}

// noDescriptors opens more connections than the server has descriptors, from many addresses.
func noDescriptors(s *server, watch time.Duration) ([]figure, error) {
	var all []net.Conn
	for i := range 400 {
		if c, err := dialer(fmt.Sprintf("127.0.1.%d", 1+i%100)).Dial("tcp", s.public); err == nil {
			all = append(all, c)
			defer c.Close()
		}
	}
	time.Sleep(time.Second)
	good := 0
	for range 10 {
		if _, err := s.metric("privatemail_ready"); err == nil {
			good++
		}
	}
	return []figure{{what: "share of looks at metrics that is answered", value: float64(good) / 10, goal: 0.9, note: fmt.Sprintf("%d connections", len(all))}}, nil
}
