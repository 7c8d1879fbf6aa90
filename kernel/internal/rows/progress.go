package rows

import "sync"

// A Progress counts the pieces of work that are done of one stage. The nil Progress is
// silent.
type Progress struct {
	mu          sync.Mutex
	report      func(stage string, done, total int)
	stage       string
	done, total int
}

// NewProgress returns the progress of a stage; nil when nobody wants a report.
func NewProgress(report func(stage string, done, total int), stage string, total int) *Progress {
	if report == nil {
		return nil
	}
	return &Progress{report: report, stage: stage, total: total}
}

// Add counts one piece.
func (p *Progress) Add() { p.Advance(1) }

// Advance counts the given number of pieces.
func (p *Progress) Advance(pieces int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += pieces
	p.report(p.stage, p.done, p.total)
}

// Set says how many pieces are done.
func (p *Progress) Set(done int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done = done
	p.report(p.stage, p.done, p.total)
}
