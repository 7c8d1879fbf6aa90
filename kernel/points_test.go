package kernel

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/par"
)

// Whatever is asked of opened points, their sample is taken once, and everything that
// follows from it is what each call would find on its own.
func TestPointsAreSampledOnce(t *testing.T) {
	p := pointtest.Make("uniform", 3000, 3, 1)
	var mu sync.Mutex
	profiles := 0
	opt := &Options{Calibration: new(Calibration), Progress: func(stage string, done, total int) {
		mu.Lock()
		defer mu.Unlock()
		if stage == "profile" && done == total {
			profiles++
		}
	}}
	pts, err := Open(p, opt)
	if err != nil {
		t.Fatal(err)
	}
	b, radius, err := pts.BandwidthForDegree(t.Context(), 20, 0, opt)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := pts.Plan(t.Context(), b, opt)
	if err != nil {
		t.Fatal(err)
	}
	op, err := pts.Build(t.Context(), b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if profiles != 1 {
		t.Errorf("%d profiles for a bandwidth, a plan and a graph", profiles)
	}

	alone, distance, err := bandwidthForDegree(t.Context(), p, 20, 0, opt)
	if err != nil || alone != b || distance != radius {
		t.Errorf("alone: %v within %g, %v; want %v within %g", alone, distance, err, b, radius)
	}
	again, err := planOf(t.Context(), p, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	for i := range plan {
		if plan[i].Name != again[i].Name || plan[i].Reason != again[i].Reason || plan[i].Degrees != again[i].Degrees {
			t.Errorf("%s: %s; alone %s: %s", plan[i].Name, plan[i].Reason, again[i].Name, again[i].Reason)
		}
	}
	other, err := Build(t.Context(), p, b, opt)
	if err != nil {
		t.Fatal(err)
	}
	if profiles != 4 {
		t.Errorf("%d profiles, want one for each call alone and one for all together", profiles)
	}
	if op.Name() != other.Name() || !slices.Equal(op.Degrees(), other.Degrees()) {
		t.Errorf("%s and %s, or their degrees differ", op.Name(), other.Name())
	}
}

// A sample that has been taken is refused all the same where the limit does not allow
// for it.
func TestSampleIsWithinTheLimit(t *testing.T) {
	p := pointtest.Make("uniform", 200, 9000, 1)
	pts, err := Open(p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pts.Plan(t.Context(), Sigma(1), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := pts.Plan(t.Context(), Sigma(1), &Options{MaxMemory: 1 << 20}); !errors.Is(err, ErrMemory) {
		t.Errorf("%v, want ErrMemory", err)
	}
}

// Goroutines share opened points.
func TestPointsAreForAllGoroutines(t *testing.T) {
	pts, err := Open(pointtest.Make("uniform", 500, 2, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	workers := par.New(4)
	defer workers.Close()
	best := make([]string, 8)
	if err := workers.Do(t.Context(), len(best), par.Func(func(_, i int) {
		plan, err := pts.Plan(t.Context(), Sigma(math.Ldexp(0.1, -(i%2))), &Options{Calibration: new(Calibration)})
		if err == nil {
			best[i] = plan[0].Name + plan[1].Reason
		}
	})); err != nil {
		t.Fatal(err)
	}
	for i := 2; i < len(best); i++ {
		if best[i] == "" || best[i] != best[i-2] {
			t.Errorf("%q, and %q in another goroutine", best[i], best[i-2])
		}
	}
}

// A call that waits for the sample of another ends with its context.
func TestWaitForTheSampleEndsWithTheContext(t *testing.T) {
	sampling, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	pts, err := Open(pointtest.Make("uniform", 500, 2, 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := pts.Plan(context.Background(), Sigma(0.1), &Options{Calibration: new(Calibration), Progress: func(string, int, int) {
			once.Do(func() { close(sampling); <-release })
		}})
		done <- err
	}()
	<-sampling
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := pts.Plan(ctx, Sigma(0.1), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
	close(release)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
