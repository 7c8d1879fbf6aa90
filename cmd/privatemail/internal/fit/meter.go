package fit

import (
	"sync/atomic"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
)

// fitMeter shows the progress of fit. While recipes are measured, what the engine says about
// each of them is a sign of life alone: how many recipes are done is shown again.
type fitMeter struct {
	progress.Meter
	recipes atomic.Pointer[privatemail.Progress] // nil when none are measured
}

func (m *fitMeter) Report(p privatemail.Progress) {
	if recipes := m.recipes.Load(); recipes != nil {
		p = *recipes
	}
	m.Meter.Report(p)
}

func (m *fitMeter) fit(stage string, done, total int) {
	p := privatemail.Progress{Stage: stage, Done: done, Total: total}
	m.recipes.Store(nil)
	if stage == "recipes" && done < total {
		m.recipes.Store(&p)
	}
	m.Meter.Report(p)
}
