//go:build cgo

package main

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"unsafe"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// A call is the value of a pm_call: what the caller of long functions asks for, and the
// report they leave.
type call struct {
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	busy     bool // in use by a function
	progress C.pm_progress
	user     C.uintptr_t
	bytes    int64  // memory of the caller
	report   []byte // of the last function that succeeded
}

func newCall() *call {
	c := &call{report: []byte("{}")}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close releases the context. The registry calls it when no function uses the call.
func (c *call) Close() error {
	c.cancel()
	return nil
}

// begin reserves the call for one function, until end. It returns the function's context.
func (c *call) begin(caller C.pmc_caller) (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return nil, errBusy
	}
	if err := c.ctx.Err(); err != nil {
		return nil, fmt.Errorf("the pm_call was already cancelled: %w", err)
	}
	c.busy = true
	return context.WithValue(privatemail.ReportProgress(c.ctx, c.teller(caller)), ownBytes{}, c.bytes), nil
}

// ownBytes is the key of the caller's bytes in the context of a function.
type ownBytes struct{}

// end keeps the report of a function that succeeded.
func (c *call) end(report []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy = false
	if report != nil {
		c.report = report
	}
}

// teller returns a function that calls the progress function of C, and nil if there is none.
func (c *call) teller(caller C.pmc_caller) func(privatemail.Progress) {
	progress, user := c.progress, c.user
	if progress == nil {
		return nil
	}
	return func(p privatemail.Progress) {
		stage := C.CString(p.Stage)
		defer C.free(unsafe.Pointer(stage))
		C.pmc_report(progress, stage, C.int64_t(p.Done), C.int64_t(p.Total), user, caller)
	}
}

// withCall runs work with the pm_call of a caller, which may be 0 for none. work gets a
// context that ends when the call is cancelled and that reports to its progress
// function. The first result of work becomes the report, as JSON.
func withCall(caller C.pmc_caller, work func(ctx context.Context) (report any, err error)) error {
	if caller.call == 0 {
		_, err := work(context.Background())
		return err
	}
	c, done, err := use[*call](&handles, uintptr(caller.call), "call")
	if err != nil {
		return err
	}
	defer done()
	ctx, err := c.begin(caller)
	if err != nil {
		return err
	}
	var text []byte
	defer func() { c.end(text) }() // also where work panics
	report, err := work(ctx)
	if err != nil {
		return err
	}
	if text, err = json.Marshal(report); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}

// withEngine is withCall for work of an engine. The caller's bytes count against the
// engine's memory limit while it runs.
func withEngine(engine C.uintptr_t, caller C.pmc_caller, work func(ctx context.Context, e *privatemail.Engine) (report any, err error)) error {
	return withEngineBy(apart, engine, caller, work)
}

// withEngineBy is withEngine with a function that runs work: apart, or caught if there is so
// little work that one worker does it, on the thread of the caller.
func withEngineBy(run func(func() error) error, engine C.uintptr_t, caller C.pmc_caller, work func(ctx context.Context, e *privatemail.Engine) (report any, err error)) error {
	e, done, err := use[*privatemail.Engine](&handles, uintptr(engine), "engine")
	if err != nil {
		return err
	}
	defer done()
	if err := checkAddressSpace(); err != nil {
		return err
	}
	caller.engine = engine
	return withCall(caller, func(ctx context.Context) (report any, err error) {
		if err := checkReentrant(caller, engine); err != nil {
			return nil, err
		}
		err = run(func() error {
			own, _ := ctx.Value(ownBytes{}).(int64)
			if own == 0 {
				report, err = work(ctx, e)
				return err
			}
			return e.Reserve(ctx, own, func(ctx context.Context) error {
				report, err = work(ctx, e)
				return err
			})
		})
		return report, err
	})
}

// checkReentrant refuses a function that a progress function of the same engine has called, on its
// own thread or through functions of other engines: it would wait for itself.
func checkReentrant(caller C.pmc_caller, engine C.uintptr_t) error {
	for r := caller.reporting; r != nil; r = r.outer {
		if r.engine == engine {
			return errReentrant
		}
	}
	return nil
}

// apart runs do in another goroutine and waits for it. Go ties the goroutine of a function that
// C has called to the thread of the caller: whenever it waits for workers, which happens often,
// the system has to switch threads. With two workers that took a tenth of an embedding's time.
// Running it elsewhere takes tens of microseconds.
func apart(do func() error) (err error) {
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		err = caught(do)
	}()
	<-finished
	return err
}

//export pmgo_call_new
func pmgo_call_new(id *C.uintptr_t) C.pm_status {
	return guard("pm_call_new", func() error {
		if id == nil {
			return argument("call is NULL")
		}
		*id = C.uintptr_t(handles.add(newCall()))
		return nil
	})
}

// withIdleCall changes a call that no function uses.
func withIdleCall(id C.uintptr_t, change func(c *call) error) error {
	c, done, err := use[*call](&handles, uintptr(id), "call")
	if err != nil {
		return err
	}
	defer done()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy {
		return errBusy
	}
	return change(c)
}

//export pmgo_call_on_progress
func pmgo_call_on_progress(id C.uintptr_t, progress C.pm_progress, user C.uintptr_t) C.pm_status {
	return guard("pm_call_on_progress", func() error {
		return withIdleCall(id, func(c *call) error {
			c.progress, c.user = progress, user
			return nil
		})
	})
}

//export pmgo_call_reserve
func pmgo_call_reserve(id C.uintptr_t, bytes C.int64_t) C.pm_status {
	return guard("pm_call_reserve", func() error {
		return withIdleCall(id, func(c *call) error {
			if bytes < 0 {
				return fmt.Errorf("%w: %d bytes", kernel.ErrOption, int64(bytes))
			}
			c.bytes = int64(bytes)
			return nil
		})
	})
}

//export pmgo_call_cancel
func pmgo_call_cancel(id C.uintptr_t) C.pm_status {
	return guard("pm_call_cancel", func() error {
		c, done, err := use[*call](&handles, uintptr(id), "call")
		if err != nil {
			return err
		}
		defer done()
		c.cancel()
		return nil
	})
}

//export pmgo_call_report
func pmgo_call_report(id C.uintptr_t, buffer *C.char, size C.size_t, needed *C.size_t) C.pm_status {
	return guard("pm_call_report", func() error {
		c, done, err := use[*call](&handles, uintptr(id), "call")
		if err != nil {
			return err
		}
		defer done()
		c.mu.Lock()
		defer c.mu.Unlock()
		return giveText(c.report, buffer, size, needed)
	})
}

//export pmgo_call_free
func pmgo_call_free(id C.uintptr_t) C.pm_status {
	return guard("pm_call_free", func() error { return free[*call](&handles, uintptr(id), "call") })
}
