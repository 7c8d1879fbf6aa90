package service

import (
	"errors"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// warnEvery is the time between two warnings of a listener. Its counts go on.
const warnEvery = 10 * time.Second

// adminConnections is how many connections the admin listener has at a time.
const adminConnections = 64

// A gate is a listener with a limit of connections, and of those of each address. It counts what it
// could not accept, and what it closed.
type gate struct {
	net.Listener
	name    string
	room    *room
	log     *slog.Logger
	reserve *reserve // nil for none
	failed  atomic.Int64
	refused atomic.Int64

	mu     sync.Mutex
	warned time.Time
}

// newGate returns a gate in front of a listener.
func newGate(l net.Listener, name string, most int, share float64, log *slog.Logger) *gate {
	return &gate{Listener: l, name: name, room: newRoom(int64(most), share), log: log}
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		c, err := g.accept()
		if errors.Is(err, net.ErrClosed) {
			return nil, err
		}
		if err != nil {
			g.failed.Add(1)
			g.warn("connection not accepted", "error", err)
			return nil, err // package http waits a little and tries again
		}
		client := addressOf(c.RemoteAddr().String())
		if !g.room.tryEnter(client, 1) {
			g.refused.Add(1)
			g.warn("connection refused: there are too many, or too many of one client")
			c.Close()
			continue
		}
		return g.admitted(c, client), nil
	}
}

// accept accepts a connection, with a descriptor of the reserve where there is no other.
func (g *gate) accept() (net.Conn, error) {
	g.reserve.fill()
	c, err := g.Listener.Accept()
	for noDescriptor(err) && pending(g.Listener) && g.reserve.release() {
		c, err = g.Listener.Accept()
	}
	return c, err
}

// warn writes a warning, unless there was one a moment ago.
func (g *gate) warn(text string, args ...any) {
	g.mu.Lock()
	now := time.Now()
	again := now.Sub(g.warned) < warnEvery
	if !again {
		g.warned = now
	}
	g.mu.Unlock()
	if !again {
		g.log.Warn(text, append([]any{"listener", g.name, "failed", g.failed.Load(), "refused", g.refused.Load()}, args...)...)
	}
}

// admitted returns a connection that leaves its place when it is closed. That of TCP keeps its
// other methods, which package http looks for.
func (g *gate) admitted(c net.Conn, client string) net.Conn {
	leave := sync.OnceFunc(func() {
		g.reserve.fill()
		g.room.leave(client, 1)
	})
	if tcp, ok := c.(*net.TCPConn); ok {
		return &tcpConn{tcp, leave}
	}
	return &otherConn{c, leave}
}

type tcpConn struct {
	*net.TCPConn
	leave func()
}

// Close implements net.Conn.
func (c *tcpConn) Close() error {
	err := c.TCPConn.Close()
	c.leave()
	return err
}

type otherConn struct {
	net.Conn
	leave func()
}

// Close implements net.Conn.
func (c *otherConn) Close() error {
	err := c.Conn.Close()
	c.leave()
	return err
}

// noDescriptor reports whether an error says that the process, or the system, has no descriptor left.
func noDescriptor(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// A reserve keeps descriptors for a time when there are no others. nil has none.
type reserve struct {
	mu    sync.Mutex
	files [4]*os.File
}

// fill takes descriptors as far as there are some.
func (r *reserve) fill() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, f := range r.files {
		if f == nil {
			if f, err := os.Open(os.DevNull); err == nil {
				r.files[i] = f
			}
		}
	}
}

// release gives one descriptor back, or returns false where none is left.
func (r *reserve) release() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, f := range r.files {
		if f != nil {
			f.Close()
			r.files[i] = nil
			return true
		}
	}
	return false
}

// close gives all descriptors back.
func (r *reserve) close() {
	for r.release() {
	}
}
