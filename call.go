package privatemail

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/par"
)

// A call is a method that does work, from begin to end.
type call struct {
	engine *Engine
	name   string
	faults bool // the setting of debug.SetPanicOnFault before
}

// begin counts a method as running: the Engine stays open until end.
func (e *Engine) begin(ctx context.Context, name string) (call, error) {
	if err := e.enter(ctx); err != nil {
		return call{}, err
	}
	return call{e, name, debug.SetPanicOnFault(true)}, nil // rows of a mapped file may be truncated
}

// end makes a panic an error, since rows that the caller changes meanwhile can cause any panic,
// and lets errors begin with the name of the method. Methods defer it.
func (c call) end(err *error) {
	debug.SetPanicOnFault(c.faults)
	if v := recover(); v != nil {
		*err = &par.PanicError{Value: v, Stack: debug.Stack()}
	}
	if p := (*par.PanicError)(nil); errors.As(*err, &p) {
		*err = fmt.Errorf("%w; have rows or labels changed during the call?", *err)
	}
	if *err != nil && !errors.Is(*err, ErrClosed) {
		*err = fmt.Errorf("privatemail: %s: %w", c.name, *err)
	}
	c.engine.leave()
}
