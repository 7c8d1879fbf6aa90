package supervised

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Few rows are held in many copies, many rows in few, and rows of many columns take a copy of
// their span instead of squares of their columns.
func TestOwnBytes(t *testing.T) {
	unmeasured := &Settings{Unmeasured: true}
	for _, c := range []struct {
		n, d float64
		s    *Settings
		want float64
	}{
		{100, 10, new(Settings), 25*4*10*100 + 12*8*10*10},
		{50_000, 64, new(Settings), 25*4*64*20_000 + 12*8*64*64},
		{1e6, 64, new(Settings), 3*4*64*1e6 + 6*8*64*64},
		{1e6, 64, &Settings{OnlyX: true}, 2*4*64*1e6 + 6*8*64*64},
		{100, 10, unmeasured, 3*4*10*100 + 6*8*10*10},
		{100, 1000, unmeasured, 3*4*1000*100 + 6*8*100*100 + 20*1000*100},
	} {
		if got := ownBytes(c.n, c.d, c.s); got != c.want {
			t.Errorf("%g x %g rows, %+v: %g bytes, want %g", c.n, c.d, c.s, got, c.want)
		}
	}
}

// What Fit holds comes out of the memory limit of its Engine: too much is refused by name, and
// several at a time get what one alone gets, though their copies together are beyond it.
func TestFitReserves(t *testing.T) {
	rows, y, err := synth.Classes(600, 20, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	recipe := Classic()
	settings := &Settings{Recipe: &recipe, Unmeasured: true}
	fit := func(e *privatemail.Engine) (*Model, error) { return Fit(t.Context(), e, rows, y, settings) }
	alone, err := fit(limited(t, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	own := int64(ownBytes(600, 20, settings))
	if _, err := fit(limited(t, own-1)); !errors.Is(err, kernel.ErrMemory) || !strings.Contains(err.Error(), "fit of 600 x 20 rows") {
		t.Errorf("a limit that the copies exceed: %v", err)
	}
	if _, err := fit(limited(t, own+1)); !errors.Is(err, kernel.ErrMemory) || !strings.HasPrefix(err.Error(), "supervised: fit: privatemail: embed: ") {
		t.Errorf("a limit that the graph exceeds: %v", err)
	}
	const whole = 32 << 20 // one sample of distances takes 20 MiB
	e := limited(t, whole)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			m, err := fit(e)
			if err != nil {
				t.Error(err)
				return
			}
			for i, v := range m.X.Data {
				if v != alone.X.Data[i] {
					t.Error("other bits than one alone gets")
					return
				}
			}
		})
	}
	all.Wait()
	err = e.Reserve(t.Context(), whole, func(context.Context) error { return nil })
	if err != nil {
		t.Errorf("something is still held: %v", err)
	}
}

func limited(t *testing.T, bytes int64) *privatemail.Engine {
	e, err := privatemail.New(privatemail.WithWorkers(2), privatemail.WithMaxMemory(bytes), privatemail.WithCalibration(kernel.Calibration{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}
