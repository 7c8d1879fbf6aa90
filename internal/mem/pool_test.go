package mem

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func fixed(bytes int64) *Pool { return NewPool(func() int64 { return bytes }) }

func mustReserve(t *testing.T, p *Pool, bytes int64) *Reservation {
	t.Helper()
	r, err := p.Reserve(t.Context(), bytes)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Earlier callers are served first, even where a later and smaller request would fit.
func TestFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixed(10)
		first := mustReserve(t, p, 6)
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for i, bytes := range []int64{8, 1, 10, 3} {
			all.Go(func() {
				r := mustReserve(t, p, bytes)
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				time.Sleep(time.Second) // by the fake clock of the test
				r.Release()
			})
			synctest.Wait() // until it waits
		}
		if len(order) != 0 {
			t.Fatalf("%v were served while the first of the queue did not fit", order)
		}
		first.Release()
		all.Wait()
		// 0 and 1 fit together, and may come in either order.
		if len(order) != 4 || order[0]+order[1] != 1 || order[2] != 2 || order[3] != 3 {
			t.Errorf("served in the order %v", order)
		}
		if p.held != 0 || p.holders != 0 {
			t.Errorf("%d bytes of %d holders are left", p.held, p.holders)
		}
	})
}

// A cancelled wait gives way to requests behind it, which may fit.
func TestCancelledWaitGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixed(10)
		first := mustReserve(t, p, 6)
		ctx, cancel := context.WithCancel(t.Context())
		var large, small error
		go func() { _, large = p.Reserve(ctx, 8) }()
		synctest.Wait()
		served := false
		go func() {
			var r *Reservation
			if r, small = p.Reserve(t.Context(), 4); small == nil {
				served = true
				r.Release()
			}
		}()
		synctest.Wait()
		if served {
			t.Error("the later request was served first")
		}
		cancel()
		synctest.Wait()
		if !errors.Is(large, context.Canceled) || !served || small != nil {
			t.Errorf("cancelled: %v; behind it: served %v, %v", large, served, small)
		}
		first.Release()
		if p.held != 0 {
			t.Errorf("%d bytes are left", p.held)
		}
		if _, err := p.Reserve(ctx, 1); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled context: %v", err)
		}
	})
}

// Close ends waits, and a holder can still release its memory.
func TestCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixed(10)
		first := mustReserve(t, p, 6)
		var errs [3]error
		for i := range errs {
			go func() { _, errs[i] = p.Reserve(t.Context(), 8) }()
		}
		synctest.Wait()
		p.Close()
		synctest.Wait()
		for i, err := range errs {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("wait %d: %v", i, err)
			}
		}
		first.Release()
		if _, err := p.Reserve(t.Context(), 1); !errors.Is(err, ErrClosed) || p.held != 0 {
			t.Errorf("%v, %d bytes left", err, p.held)
		}
	})
}

func TestMoreThanTheWhole(t *testing.T) {
	p := fixed(10)
	r := mustReserve(t, p, 10)
	if _, err := p.Reserve(t.Context(), 11); !errors.Is(err, ErrWhole) {
		t.Errorf("11 of 10: %v", err)
	}
	if r.Grow(11) {
		t.Error("grew beyond the whole")
	}
	if err := r.Exchange(t.Context(), 11); !errors.Is(err, ErrWhole) || r.Held() != 0 {
		t.Errorf("exchange for 11 of 10: %v, holds %d", err, r.Held())
	}
	r.Release() // holds nothing
	if p.held != 0 || p.holders != 0 {
		t.Errorf("%d bytes of %d holders are left", p.held, p.holders)
	}
}

// A request of 0 bytes holds a place, and so the measure, like any other.
func TestNothing(t *testing.T) {
	p := fixed(10)
	r := mustReserve(t, p, 0)
	if !r.Grow(10) || r.Grow(11) {
		t.Error("growing from nothing")
	}
	r.Release()
	if r.Grow(1) {
		t.Error("grew after it was released")
	}
}

// The earlier caller grows first, and a caller that gives memory back keeps its place.
func TestGrowAndExchangeKeepTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fixed(10)
		old, young := mustReserve(t, p, 4), mustReserve(t, p, 4)
		if old.Grow(7) {
			t.Error("grew into what another holds")
		}
		var err error
		go func() { err = old.Exchange(t.Context(), 8) }()
		synctest.Wait()
		if young.Grow(5) {
			t.Error("the later one grew while the earlier one waits")
		}
		late := make(chan *Reservation, 1)
		go func() { r, _ := p.Reserve(t.Context(), 1); late <- r }()
		synctest.Wait()
		if len(late) > 0 {
			t.Error("one who came later was served before the exchange")
		}
		young.Release()
		synctest.Wait()
		if err != nil || old.Held() != 8 || len(late) != 1 {
			t.Errorf("exchange: %v, holds %d; the later one served: %v", err, old.Held(), len(late) == 1)
		}
		if !old.Grow(9) || old.Grow(10) {
			t.Error("growing into what is free")
		}
		old.Release()
		(<-late).Release()
		if p.held != 0 {
			t.Errorf("%d bytes are left", p.held)
		}
	})
}

// The whole is measured only while nobody holds any.
func TestWholeIsMeasuredWhileNobodyHolds(t *testing.T) {
	now := int64(10)
	p := NewPool(func() int64 { return now })
	r := mustReserve(t, p, 10)
	now = 4
	if p.Whole() != 10 {
		t.Errorf("the whole is %d while it is held", p.Whole())
	}
	r.Release()
	if _, err := p.Reserve(t.Context(), 5); !errors.Is(err, ErrWhole) || p.Whole() != 4 {
		t.Errorf("5 of %d: %v", p.Whole(), err)
	}
}

// A lone waiting caller is served even if there is less memory by then: otherwise it
// would wait for ever.
func TestLessWhenServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		now := int64(10)
		p := NewPool(func() int64 { return now })
		r := mustReserve(t, p, 10)
		var err error
		done := false
		go func() { _, err = p.Reserve(t.Context(), 8); done = true }()
		synctest.Wait()
		now = 4
		r.Release()
		synctest.Wait()
		if !done || err != nil {
			t.Errorf("served: %v, %v", done, err)
		}
	})
}

// Memory comes back when its holder panics, if the holder defers Release.
func TestReleaseOnPanic(t *testing.T) {
	p := fixed(10)
	func() {
		defer func() { recover() }()
		r := mustReserve(t, p, 10)
		defer r.Release()
		panic("holder")
	}()
	mustReserve(t, p, 10).Release()
}

// Many callers reserve, grow, exchange, give up and leave: together they never hold
// more than the whole, and all are served in the end.
func TestManyCallers(t *testing.T) {
	const whole, callers, rounds = 100, 32, 200
	p := fixed(whole)
	var held, served atomic.Int64
	take := func(bytes int64) {
		if held.Add(bytes) > whole {
			t.Error("more than the whole is held")
		}
	}
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(c)))
			for range rounds {
				ctx, cancel := context.WithCancel(t.Context())
				if rng.IntN(4) == 0 {
					go cancel()
				}
				bytes := 1 + rng.Int64N(whole)
				r, err := p.Reserve(ctx, bytes)
				if err == nil {
					take(bytes)
					if more := min(bytes+rng.Int64N(20), whole); r.Grow(more) {
						take(more - bytes)
						bytes = more
					} else {
						held.Add(-bytes)
						if err = r.Exchange(ctx, more); err == nil {
							bytes = more
							take(bytes)
						}
					}
				}
				if err == nil {
					served.Add(1)
					held.Add(-bytes)
					r.Release()
				} else if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if p.held != 0 || p.holders != 0 || len(p.queue) != 0 {
		t.Errorf("%d bytes of %d holders are left, %d wait", p.held, p.holders, len(p.queue))
	}
	if served.Load() < callers*rounds/2 {
		t.Errorf("%d of %d were served", served.Load(), callers*rounds)
	}
}
