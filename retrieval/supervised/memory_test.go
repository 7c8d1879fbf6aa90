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

func TestCopies(t *testing.T) {
	for rows, want := range map[int]float64{100: 1800, 2000: 24_000, 50_000: 200_000, 1_000_000: 3_000_000} {
		if got := copies(float64(rows), new(Settings)); got != want {
			t.Errorf("%g rows in copies of %d, want %g", got, rows, want)
		}
	}
	if got := copies(100, &Settings{Unmeasured: true}); got != 300 {
		t.Errorf("%g rows in copies of 100 that are not measured, want 300", got)
	}
	if got := copies(1e6, &Settings{OnlyX: true}); got != 2e6 {
		t.Errorf("%g rows in copies of 1e6 without Z, want 2e6", got)
	}
}

// What Fit holds comes out of the budget of its Engine: too much is refused by name, and
// several at a time get what one alone gets, though their copies together are beyond it.
func TestFitReserves(t *testing.T) {
	rows, y, err := synth.Classes(600, 20, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	recipe := Classic()
	settings := &Settings{Recipe: &recipe, Unmeasured: true}
	fit := func(e *privatemail.Engine) (*Model, error) { return Fit(t.Context(), e, rows, y, settings) }
	alone, err := fit(budgeted(t, 1<<30))
	if err != nil {
		t.Fatal(err)
	}
	own := int64(ownBytes(600, 20, settings))
	if _, err := fit(budgeted(t, own-1)); !errors.Is(err, kernel.ErrMemory) || !strings.Contains(err.Error(), "fit of 600 x 20 rows") {
		t.Errorf("a budget that the copies exceed: %v", err)
	}
	if _, err := fit(budgeted(t, own+1)); !errors.Is(err, kernel.ErrMemory) || !strings.HasPrefix(err.Error(), "supervised: fit: privatemail: embed: ") {
		t.Errorf("a budget that the graph exceeds: %v", err)
	}
	const whole = 32 << 20 // one sample of distances takes 20 MiB
	e := budgeted(t, whole)
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

func budgeted(t *testing.T, bytes int64) *privatemail.Engine {
	e, err := privatemail.New(privatemail.WithWorkers(2), privatemail.WithBudget(bytes), privatemail.WithCalibration(kernel.Calibration{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}
