// Package wiretap lets a test see every byte that crosses a listener.
package wiretap

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// A Tap is a listener on this machine that records all traffic.
type Tap struct {
	net.Listener
	mutex       sync.Mutex
	connections []*connection
	open        int        // connections that the server has not closed
	idle        *sync.Cond // of mutex: there are none. A WaitGroup must not grow during Wait
}

// connection is one connection.
type connection struct {
	net.Conn
	tap        *Tap
	closed     sync.Once
	came, went bytes.Buffer // to the listener, and from it
}

// Listen starts a listener. It is closed at the end of the test.
func Listen(t testing.TB) *Tap {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() }) // the server may already have closed it
	tap := &Tap{Listener: l}
	tap.idle = sync.NewCond(&tap.mutex)
	return tap
}

// Accept implements net.Listener.
func (t *Tap) Accept() (net.Conn, error) {
	c, err := t.Listener.Accept()
	if err != nil {
		return nil, err
	}
	t.mutex.Lock()
	defer t.mutex.Unlock()
	own := &connection{Conn: c, tap: t}
	t.connections = append(t.connections, own)
	t.open++
	return own, nil
}

// Read implements net.Conn.
func (c *connection) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.tap.mutex.Lock()
	defer c.tap.mutex.Unlock()
	c.came.Write(b[:n])
	return n, err
}

// Write implements net.Conn.
func (c *connection) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.tap.mutex.Lock()
	defer c.tap.mutex.Unlock()
	c.went.Write(b[:n])
	return n, err
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.closed.Do(c.tap.ended)
	return c.Conn.Close()
}

// Wait waits until the server has closed all connections: then everything that
// disconnected clients have sent is recorded.
func (t *Tap) Wait() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for t.open > 0 {
		t.idle.Wait()
	}
}

// ended counts a connection that the server has closed.
func (t *Tap) ended() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.open--; t.open == 0 {
		t.idle.Broadcast()
	}
}

// Came returns the bytes that clients have sent, a slice for each connection in the
// order of their start.
func (t *Tap) Came() [][]byte { return t.copies(func(c *connection) *bytes.Buffer { return &c.came }) }

// Went returns the bytes sent to clients, as Came does.
func (t *Tap) Went() [][]byte { return t.copies(func(c *connection) *bytes.Buffer { return &c.went }) }

func (t *Tap) copies(of func(*connection) *bytes.Buffer) (all [][]byte) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, c := range t.connections {
		all = append(all, bytes.Clone(of(c).Bytes()))
	}
	return all
}

// Forget deletes everything recorded so far. Open connections are still recorded.
func (t *Tap) Forget() {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	for _, c := range t.connections {
		c.came.Reset()
		c.went.Reset()
	}
}
