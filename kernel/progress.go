package kernel

import "sync"

// progress counts the pieces of one stage; the nil progress is silent.
type progress struct {
	mu          sync.Mutex
	report      func(stage string, done, total int)
	stage       string
	done, total int
}

func (o *Options) progress(stage string, total int) *progress {
	if o.Progress == nil {
		return nil
	}
	return &progress{report: o.Progress, stage: stage, total: total}
}

func (p *progress) add() { p.advance(1) }

func (p *progress) advance(pieces int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += pieces
	p.report(p.stage, p.done, p.total)
}

func (p *progress) set(done int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
	p.report(p.stage, p.done, p.total)
}
