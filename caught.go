package privatemail

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/seed-64e14a55/privatemail/par"
)

// caught does the work of a call. A panic becomes an error: rows that the caller changes
// meanwhile can cause any panic.
func caught[T any](work func() (T, error)) (out T, err error) {
	out, err = func() (out T, err error) {
		defer par.Catch(&err)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // rows of a mapped file may be truncated
		return work()
	}()
	if p := (*par.PanicError)(nil); errors.As(err, &p) {
		err = fmt.Errorf("%w; have rows or labels changed during the call?", err)
	}
	return out, err
}
