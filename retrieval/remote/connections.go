package remote

import (
	"context"
	"net"
	"sync"
)

// connections are all that a Server has open, so that it can close them at a time of its own
// choice. The zero value is ready.
type connections struct {
	mutex sync.Mutex
	open  map[*connection]struct{}
}

// A connection is one of connections.
type connection struct {
	net.Conn
	of *connections
}

// dialer returns a dial function whose connections are remembered until they are closed.
func (c *connections) dialer(dial func(ctx context.Context, network, address string) (net.Conn, error)) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		own := &connection{conn, c}
		c.mutex.Lock()
		defer c.mutex.Unlock()
		if c.open == nil {
			c.open = make(map[*connection]struct{})
		}
		c.open[own] = struct{}{}
		return own, nil
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mutex.Lock()
	delete(c.of.open, c)
	c.of.mutex.Unlock()
	return c.Conn.Close()
}

// close closes all connections. The locks are not held while it does.
func (c *connections) close() {
	c.mutex.Lock()
	open := c.open
	c.open = nil
	c.mutex.Unlock()
	for conn := range open {
		conn.Conn.Close() // nothing is sent any more
	}
}
