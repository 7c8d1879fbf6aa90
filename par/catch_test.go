package par

import (
	"errors"
	"testing"
)

func TestCatch(t *testing.T) {
	do := func(work func() error) (err error) {
		defer Catch(&err)
		return work()
	}
	var e *PanicError
	if err := do(func() error { panic("this") }); !errors.As(err, &e) || e.Value != "this" || len(e.Stack) == 0 {
		t.Errorf("a panic: %v", err)
	}
	own := errors.New("own")
	if err := do(func() error { return own }); err != own {
		t.Errorf("an error: %v", err)
	}
	if err := do(func() error { return nil }); err != nil {
		t.Errorf("no error: %v", err)
	}
}
