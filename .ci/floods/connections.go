package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// many is how many connections one client opens: more than its share.
const many = 1200

// talk opens connections of one client and calls one for each, again when it has ended.
func talk(s *server, count int, one func(ctx context.Context, c net.Conn)) (end func()) {
	return crowd(count, func(ctx context.Context) {
		c, err := connect(ctx, s)
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			return
		}
		defer c.Close()
		one(ctx, c)
		time.Sleep(10 * time.Millisecond)
	})
}

// slowHeads send the head of a request byte by byte.
func slowHeads(s *server) func() {
	return talk(s, many, func(ctx context.Context, c net.Conn) {
		for _, b := range []byte("GET /v1/gallery HTTP/1.1\r\nHost: a\r\nX-Long: " + strings.Repeat("x", 1000)) {
			if _, err := c.Write([]byte{b}); err != nil {
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
}

// idle connections stay after one request.
func idle(s *server) func() {
	return talk(s, many, func(ctx context.Context, c net.Conn) {
		io.WriteString(c, "GET /v1/gallery HTTP/1.1\r\nHost: a\r\n\r\n")
		io.Copy(io.Discard, c)
	})
}

// pipelines send one request after the other without reading answers.
func pipelines(s *server) func() {
	one := fmt.Sprintf("POST /v1/cells?encoding=int8 HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s", len(s.cells), s.cells)
	text := []byte(strings.Repeat(one, 100))
	return talk(s, 256, func(ctx context.Context, c net.Conn) {
		for {
			if _, err := c.Write(text); err != nil {
				return
			}
		}
	})
}

// chunks are long requests without a length that do not end.
func chunks(s *server) func() {
	return talk(s, 256, func(ctx context.Context, c net.Conn) {
		io.WriteString(c, "POST /v1/sealed/records/fetch HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
		for range 64 {
			if _, err := fmt.Fprintf(c, "1\r\nx\r\n"); err != nil {
				return
			}
		}
		io.Copy(io.Discard, c)
	})
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// start2 begins HTTP/2 and reads what comes.
func start2(c net.Conn) {
	c.Write(append([]byte(preface), frame2(4, 0, 0, nil)...))
	go io.Copy(io.Discard, c)
}

// resets2 open streams and reset them at once.
func resets2(s *server) func() {
	return talk(s, 16, func(ctx context.Context, c net.Conn) {
		start2(c)
		for id := uint32(1); ; {
			var b []byte
			for range 100 {
				b = append(append(b, frame2(1, 5, id, get2("/v1/rows"))...), frame2(3, 0, id, []byte{0, 0, 0, 8})...)
				id += 2
			}
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	})
}

// fullWindows send as much of bodies as the windows of HTTP/2 let through, over many connections.
func fullWindows(s *server) func() {
	block := make([]byte, 16<<10)
	return talk(s, many, func(ctx context.Context, c net.Conn) {
		text := []byte(preface)
		text = append(text, frame2(4, 0, 0, nil)...)
		head := get2("/v1/sealed/records/fetch")
		head[0] = 0x83 // POST
		var window, stream int64 = 65535, 65535
		from := bufio.NewReader(c)
		next := uint32(1)
		open := func() {
			text = append(text, frame2(1, 4, next, head)...)
			next += 2
		}
		open()
		sent := int64(0)
		for {
			for window-sent >= int64(len(block)) && stream-sent >= int64(len(block)) {
				text = append(text, frame2(0, 0, next-2, block)...)
				sent += int64(len(block))
			}
			if _, err := c.Write(text); err != nil {
				return
			}
			text = text[:0]
			head9 := make([]byte, 9)
			if _, err := io.ReadFull(from, head9); err != nil {
				return
			}
			payload := make([]byte, binary.BigEndian.Uint32(head9)>>8)
			if _, err := io.ReadFull(from, payload); err != nil {
				return
			}
			switch kind, flags, id := head9[3], head9[4], binary.BigEndian.Uint32(head9[5:]); {
			case kind == 4 && flags == 0:
				for i := 0; i+6 <= len(payload); i += 6 {
					if binary.BigEndian.Uint16(payload[i:]) == 4 {
						stream = int64(binary.BigEndian.Uint32(payload[i+2:]))
					}
				}
				text = append(text, frame2(4, 1, 0, nil)...)
			case kind == 8 && id == 0:
				window += int64(binary.BigEndian.Uint32(payload))
			case kind == 8:
				stream += int64(binary.BigEndian.Uint32(payload))
			case kind == 3 || kind == 7, kind == 0 && flags&1 != 0:
				return
			}
		}
	})
}

// hangups have the server read its files again while bodies do not come.
func hangups(s *server) func() {
	end := silentBodies(s)
	stop := crowd(1, func(ctx context.Context) {
		s.cmd.Process.Signal(syscall.SIGHUP)
		time.Sleep(300 * time.Millisecond)
	})
	return func() { stop(); end() }
}

// longFrames stay after the longest frame of HTTP/2 that the server takes.
func longFrames(s *server) func() {
	frame := frame2(0x20, 0, 0, make([]byte, 1<<20)) // of a kind that does not exist
	return talk(s, many, func(ctx context.Context, c net.Conn) {
		start2(c)
		if _, err := c.Write(frame); err != nil {
			return
		}
		<-ctx.Done()
	})
}
