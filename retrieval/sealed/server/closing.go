package server

import (
	"fmt"
	"sync"
)

// use is followed by g.calls.End, if it returns no error.
func (g *Gallery) use() error {
	if !g.calls.Begin() {
		return fmt.Errorf("sealed server: %w", ErrClosed)
	}
	return nil
}

// Close ends the use of a gallery, and of the file that it was opened from. Calls that come later
// are refused with ErrClosed; Close waits for those that are running. The manifest stays as it is.
// What Map, Hint and IDs returned is gone with the file, and Hint must not be called after Close:
// whoever uses these calls Hold before. Of a gallery that New made, nothing is gone.
func (g *Gallery) Close() error {
	g.calls.Close()
	g.closing.Do(func() {
		if g.file != nil {
			g.closeErr = g.file.Close()
		}
	})
	return g.closeErr
}

// Hold keeps the gallery open until release is called, once: Close waits for it. The error is
// ErrClosed.
func (g *Gallery) Hold() (release func(), err error) {
	if err := g.use(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(g.calls.End), nil
}
