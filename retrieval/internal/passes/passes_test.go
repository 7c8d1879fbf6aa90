package passes

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A slowAnswerer takes a second a pass and answers with the count of the request.
type slowAnswerer struct {
	mu       sync.Mutex
	passes   []int // requests of each
	canceled int
	fail     error
	panics   bool
}

func (s *slowAnswerer) CheckRequest(r *wire.SealedRequest) error {
	if r.Count == 0 {
		return server.ErrQuestion
	}
	return nil
}

func (s *slowAnswerer) Answer(ctx context.Context, requests ...*wire.SealedRequest) ([]*wire.SealedAnswer, error) {
	s.mu.Lock()
	s.passes = append(s.passes, len(requests))
	s.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		s.mu.Lock()
		s.canceled++
		s.mu.Unlock()
		return nil, ctx.Err()
	}
	if s.panics {
		panic("a mistake")
	}
	if s.fail != nil {
		return nil, s.fail
	}
	var out []*wire.SealedAnswer
	for _, r := range requests {
		out = append(out, &wire.SealedAnswer{Count: r.Count})
	}
	return out, nil
}

// ask asks in a goroutine of the group.
func ask(t *testing.T, group *sync.WaitGroup, s *Shared, ctx context.Context, count int, want error) {
	group.Go(func() {
		a, err := s.Answer(ctx, &wire.SealedRequest{Count: count})
		if !errors.Is(err, want) || err == nil && a.Count != count {
			t.Errorf("request %d: %v", count, err)
		}
	})
}

// Requests that come while a pass runs share the next one, up to a bound; more than may wait
// are refused.
func TestSharedPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var observed []int
		slow := new(slowAnswerer)
		s := New(slow, Settings{Most: 3, Queue: 5, Observe: func(requests int, took time.Duration) {
			if took != time.Second {
				t.Errorf("a pass of %v", took)
			}
			observed = append(observed, requests)
		}})
		var group sync.WaitGroup
		ask(t, &group, s, t.Context(), 1, nil)
		synctest.Wait()
		for i := range 5 {
			ask(t, &group, s, t.Context(), 2+i, nil)
		}
		synctest.Wait()
		ask(t, &group, s, t.Context(), 9, ErrBusy)
		ask(t, &group, s, t.Context(), 0, server.ErrQuestion)
		group.Wait()
		if want := []int{1, 3, 2}; !slices.Equal(slow.passes, want) {
			t.Errorf("passes of %v, want %v", slow.passes, want)
		}
		if err := s.Close(); err != nil || !slices.Equal(observed, slow.passes) {
			t.Errorf("observed %v: %v", observed, err)
		}
	})
}

// A request waits for others no longer than it should, and not when a pass is full.
func TestSharedWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := new(slowAnswerer)
		s := New(slow, Settings{Most: 3, Wait: 10 * time.Second})
		var group sync.WaitGroup
		began := time.Now()
		ask(t, &group, s, t.Context(), 1, nil)
		time.Sleep(4 * time.Second)
		ask(t, &group, s, t.Context(), 2, nil)
		group.Wait()
		if took := time.Since(began); took != 11*time.Second {
			t.Errorf("two requests took %v", took)
		}
		began = time.Now()
		for i := range 3 {
			ask(t, &group, s, t.Context(), 1+i, nil)
		}
		group.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("a full pass took %v", took)
		}
		if want := []int{2, 3}; !slices.Equal(slow.passes, want) {
			t.Errorf("passes of %v, want %v", slow.passes, want)
		}
		// Those that have waited for a pass need not wait again.
		began = time.Now()
		for i := range 3 {
			ask(t, &group, s, t.Context(), 1+i, nil)
		}
		synctest.Wait()
		slow.mu.Lock()
		slow.passes = nil
		slow.mu.Unlock()
		ask(t, &group, s, t.Context(), 7, nil)
		group.Wait()
		if took := time.Since(began); took != 11*time.Second {
			t.Errorf("a request behind a pass took %v", took)
		}
	})
}

// Who leaves leaves the others alone, and a pass that nobody waits for ends.
func TestSharedLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := new(slowAnswerer)
		s := New(slow, Settings{})
		var group sync.WaitGroup
		running, leave := context.WithCancel(t.Context())
		ask(t, &group, s, running, 1, context.Canceled)
		synctest.Wait()
		waiting, leaveToo := context.WithCancelCause(t.Context())
		cause := errors.New("the line is gone")
		ask(t, &group, s, waiting, 2, cause)
		ask(t, &group, s, t.Context(), 3, nil)
		ask(t, &group, s, t.Context(), 4, nil)
		synctest.Wait()
		leaveToo(cause) // before its pass
		synctest.Wait()
		leave() // the only one of its pass
		synctest.Wait()
		if slow.mu.Lock(); slow.canceled != 1 || !slices.Equal(slow.passes, []int{1, 2}) {
			t.Errorf("%d canceled of passes of %v", slow.canceled, slow.passes)
		}
		slow.mu.Unlock()
		group.Wait()

		first, leaveFirst := context.WithCancel(t.Context())
		ask(t, &group, s, t.Context(), 8, nil)
		synctest.Wait()
		ask(t, &group, s, first, 5, context.Canceled)
		ask(t, &group, s, t.Context(), 6, nil)
		time.Sleep(1500 * time.Millisecond)
		leaveFirst() // in the middle of its pass
		group.Wait()
		if slow.canceled != 1 {
			t.Error("one of two left, and the pass ended")
		}
	})
}

// Close waits for those that wait, and refuses others.
func TestSharedClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := new(slowAnswerer)
		s := New(slow, Settings{Most: 1})
		var group sync.WaitGroup
		ask(t, &group, s, t.Context(), 1, nil)
		ask(t, &group, s, t.Context(), 2, nil)
		synctest.Wait()
		var closed atomic.Bool
		group.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			closed.Store(true)
		})
		synctest.Wait()
		if closed.Load() {
			t.Error("Close did not wait")
		}
		ask(t, &group, s, t.Context(), 3, server.ErrClosed)
		group.Wait()
		if err := s.Close(); err != nil || len(slow.passes) != 2 {
			t.Errorf("passes of %v: %v", slow.passes, err)
		}
	})
}

// That a pass was full does not let the next one begin before its time.
func TestSharedWaitsAfterFullPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := new(slowAnswerer)
		s := New(slow, Settings{Most: 2, Wait: time.Minute})
		var group sync.WaitGroup
		for range 4 { // two passes: the second is full while the first is running
			ask(t, &group, s, t.Context(), 1, nil)
		}
		group.Wait()
		began := time.Now()
		ask(t, &group, s, t.Context(), 1, nil)
		group.Wait()
		if took := time.Since(began); took != time.Minute+time.Second || !slices.Equal(slow.passes, []int{2, 2, 1}) {
			t.Errorf("%s, passes of %v", took, slow.passes)
		}
	})
}

// A request that waits for others is answered at once when no others can come.
func TestSharedCloseEndsWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := new(slowAnswerer)
		s := New(slow, Settings{Most: 2, Wait: time.Hour})
		var group sync.WaitGroup
		ask(t, &group, s, t.Context(), 1, nil)
		ctx, cancel := context.WithCancel(t.Context())
		synctest.Wait()
		began := time.Now()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("Close took %s, and a pass takes a second", took)
		}
		group.Wait()

		// The only one that waits has left.
		s = New(slow, Settings{Most: 2, Wait: time.Hour})
		ask(t, &group, s, ctx, 1, context.Canceled)
		synctest.Wait()
		cancel()
		synctest.Wait()
		began = time.Now()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("Close took %s, and nobody waits", took)
		}
		group.Wait()
	})
}

// Those who wait are told when a pass fails, and the next one is tried.
func TestSharedFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := &slowAnswerer{fail: server.ErrMemory}
		s := New(slow, Settings{})
		var group sync.WaitGroup
		ask(t, &group, s, t.Context(), 1, server.ErrMemory)
		group.Wait()
		slow.fail, slow.panics = nil, true
		_, err := s.Answer(t.Context(), &wire.SealedRequest{Count: 1})
		if caught := new(par.PanicError); !errors.As(err, &caught) {
			t.Error(err)
		}
		slow.panics = false
		ask(t, &group, s, t.Context(), 2, nil)
		group.Wait()
	})
}

// unitRows returns random rows of unit length.
func unitRows(n, d int) blas64.General {
	random := rand.New(rand.NewPCG(1, 1))
	x := blas64.General{Rows: n, Cols: d, Stride: d, Data: make([]float64, n*d)}
	for i := range n {
		row := x.Data[i*d : (i+1)*d]
		for j := range row {
			row[j] = random.NormFloat64()
		}
		points.Normalize(row)
	}
	return x
}

// drawnRequest returns a request of random bytes for a gallery.
func drawnRequest(random *rand.Rand, epoch wire.Hash, m *wire.SealedManifest) *wire.SealedRequest {
	r := &wire.SealedRequest{Epoch: epoch, Count: m.Probes, Columns: m.Columns(), Width: 3}
	r.Bytes = make([]byte, r.Count*r.Columns*r.Width)
	for i := range r.Bytes {
		r.Bytes[i] = byte(random.Uint32())
	}
	return r
}

// Many requests at a time have the answers of the gallery, whoever leaves.
func TestSharedGallery(t *testing.T) {
	workers := par.New(2)
	defer workers.Close()
	g, err := server.New(t.Context(), unitRows(300, 5), server.Settings{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	s := New(g, Settings{Most: 5, Queue: 1000})
	m := g.Manifest()
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 3))
			request := drawnRequest(random, g.Epoch(), m)
			want, err := g.Answer(t.Context(), request)
			if err != nil {
				t.Error(err)
				return
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%4 == 0 {
				go cancel()
			}
			got, err := s.Answer(ctx, request)
			switch {
			case errors.Is(err, context.Canceled) && i%4 == 0:
			case err != nil:
				t.Error(err)
			case !slices.Equal(got.Words, want[0].Words):
				t.Errorf("request %d has the answer of another one", i)
			}
		})
	}
	group.Wait()
	if _, err := s.Answer(t.Context(), drawnRequest(rand.New(rand.NewPCG(1, 1)), wire.Hash{}, m)); !errors.Is(err, server.ErrEpoch) {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
