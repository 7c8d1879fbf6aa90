//go:build cgo

package main

import (
	"errors"
	"sync"
	"testing"
)

// A closer counts how often it was closed.
type closer struct{ closed int }

func (c *closer) Close() error {
	c.closed++
	return nil
}

func newRegistry() *registry {
	return &registry{last: firstHandle - 1, entries: map[uintptr]*entry{}}
}

func TestHandles(t *testing.T) {
	r := newRegistry()
	one, two := &closer{}, new(int)
	a, b := r.add(one), r.add(two)
	if a == b || a < firstHandle {
		t.Fatalf("handles %d and %d", a, b)
	}
	for name, err := range map[string]error{
		"another kind":            second(use[*int](r, a, "x")),
		"no handle":               second(use[*closer](r, 0, "x")),
		"a number":                second(use[*closer](r, 1, "x")),
		"a future one":            second(use[*closer](r, b+1, "x")),
		"free of another kind":    free[*int](r, a, "x"),
		"free of no such handle":  free[*int](r, b+1, "x"),
		"free of a small number":  free[*int](r, 1, "x"),
		"free of a large pointer": free[*int](r, ^uintptr(0), "x"),
	} {
		if !errors.Is(err, errHandle) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := free[*closer](r, 0, "x"); err != nil {
		t.Errorf("free of none: %v", err)
	}

	// A value in use is closed once, by its last user.
	got, done, err := use[*closer](r, a, "x")
	_, again, err2 := use[*closer](r, a, "x")
	if got != one || err != nil || err2 != nil {
		t.Fatal(got, err, err2)
	}
	if err := free[*closer](r, a, "x"); err != nil || one.closed != 0 {
		t.Errorf("%v, closed %d times while in use", err, one.closed)
	}
	if err := second(use[*closer](r, a, "x")); !errors.Is(err, errHandle) {
		t.Errorf("use of a freed handle: %v", err)
	}
	done()
	if one.closed != 0 {
		t.Errorf("closed %d times before the last use", one.closed)
	}
	again()
	if one.closed != 1 {
		t.Errorf("closed %d times", one.closed)
	}
	if err := free[*closer](r, a, "x"); !errors.Is(err, errHandle) || one.closed != 1 {
		t.Errorf("freed again: %v, closed %d times", err, one.closed)
	}
	if err := free[*int](r, b, "x"); err != nil || len(r.entries) != 0 {
		t.Errorf("%v; %d handles are left", err, len(r.entries))
	}
	if c := r.add(one); c == a || c == b {
		t.Error("a handle was reused")
	}
}

func second[T any](_ T, _ func(), err error) error { return err }

// Of many concurrent calls that free a handle, one succeeds.
func TestOneFreesAHandle(t *testing.T) {
	r := newRegistry()
	for range 200 {
		c := &closer{}
		id := r.add(c)
		var all sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			all.Go(func() {
				_, done, err := use[*closer](r, id, "x")
				if err == nil {
					defer done()
				}
				errs[i] = free[*closer](r, id, "x")
			})
		}
		all.Wait()
		freed := 0
		for _, err := range errs {
			if err == nil {
				freed++
			}
		}
		if freed != 1 || c.closed != 1 {
			t.Fatalf("%d have freed it, closed %d times", freed, c.closed)
		}
	}
}
