package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/seed-64e14a55/privatemail"
)

// bar draws progress on one line of a terminal and removes it at the end.
// Stages follow each other on the same line.
type bar struct {
	container *mpb.Progress
	bar       *mpb.Bar

	mu    sync.Mutex
	p     privatemail.Progress
	began time.Time // of the stage
}

func newBar(w io.Writer) *bar {
	b := &bar{began: time.Now()}
	b.container = mpb.New(mpb.WithOutput(w), mpb.WithAutoRefresh(), mpb.WithWidth(80))
	b.bar = b.container.New(0, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.PrependDecorators(decor.Any(b.before)), mpb.AppendDecorators(decor.Any(b.after)))
	return b
}

func (b *bar) Report(p privatemail.Progress) {
	b.mu.Lock()
	if p.Stage != b.p.Stage {
		b.began = time.Now()
	}
	b.p = p
	b.mu.Unlock()
	// Setting the total never completes the bar: only close ends it.
	b.bar.SetTotal(int64(max(p.Total, 1)), false)
	b.bar.SetCurrent(int64(p.Done))
}

func (b *bar) before(decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf("%-17s", b.p.Stage)
}

func (b *bar) after(decor.Statistics) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fmt.Sprintf(" %3d%% %5.1f s", percent(b.p), time.Since(b.began).Seconds())
}

func (b *bar) Close() {
	b.bar.Abort(true)
	b.container.Wait()
}

func percent(p privatemail.Progress) int {
	if p.Total <= 0 {
		return 100
	}
	return int(int64(p.Done) * 100 / int64(p.Total))
}
