package par

import "runtime/debug"

// Catch turns a panic into a *PanicError. A function that returns err defers it:
//
//	defer par.Catch(&err)
//
// Do does the same for tasks. Functions that read the caller's rows defer it, because
// rows that change meanwhile can cause any panic.
func Catch(err *error) {
	if v := recover(); v != nil {
		*err = &PanicError{Value: v, Stack: debug.Stack()}
	}
}
