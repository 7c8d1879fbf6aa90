package server

import (
	"fmt"
	"sync"
)

// begin is followed by c.calls.End, if it returns no error.
func (c *Cells) begin() error {
	if !c.calls.Begin() {
		return fmt.Errorf("server: %w", ErrClosed)
	}
	return nil
}

// Close ends the use of a gallery, and of the file that it was opened from. Calls that come
// later are refused with ErrClosed; Close waits for those that are running, however slow the
// writers they write to are. The codebook and the base samples stay as they are. What
// AllRowsFrame and Map returned is gone with the file: whoever uses that calls Hold before.
// Of a gallery that NewCells made, nothing is gone.
func (c *Cells) Close() error {
	c.calls.Close()
	c.closing.Do(func() {
		if c.file != nil {
			c.closeErr = c.file.Close()
		}
		if c.release != nil {
			c.release()
		}
	})
	return c.closeErr
}

// Hold keeps the gallery open until release is called, once: Close waits for it. The error
// is ErrClosed.
func (c *Cells) Hold() (release func(), err error) {
	if err := c.begin(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(c.calls.End), nil
}
