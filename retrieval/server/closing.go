package server

import (
	"fmt"
	"sync"
)

// usage counts the calls that read what Close takes away.
type usage struct {
	mu     sync.Mutex
	idle   *sync.Cond // of mu, for those who close: the last call has ended
	calls  int
	closed bool
}

// begin is followed by end, if it returns no error.
func (u *usage) begin() error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return fmt.Errorf("server: %w", ErrClosed)
	}
	u.calls++
	return nil
}

func (u *usage) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.calls--; u.calls == 0 && u.closed {
		u.idle.Broadcast()
	}
}

// close refuses calls from now on, and waits for those that are running.
func (u *usage) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	if u.idle == nil {
		u.idle = sync.NewCond(&u.mu)
	}
	for u.calls > 0 {
		u.idle.Wait()
	}
}

// Close ends the use of a gallery, and of the file that it was opened from. Calls that come
// later are refused with ErrClosed; Close waits for those that are running, however slow the
// writers they write to are. The codebook and the base samples stay as they are. What
// GalleryFrame and Map returned is gone with the file: whoever uses that calls Hold before.
// Of a gallery that NewCells made, nothing is gone.
func (c *Cells) Close() error {
	c.usage.close()
	c.closing.Do(func() {
		if c.file != nil {
			c.closeErr = c.file.Close()
		}
	})
	return c.closeErr
}

// Hold keeps the gallery open until release is called, once: Close waits for it. The error
// is ErrClosed.
func (c *Cells) Hold() (release func(), err error) {
	if err := c.usage.begin(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(c.usage.end), nil
}
