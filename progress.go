package privatemail

import "context"

// progressKey is the key of a progress function in a context.
type progressKey struct{}

// ReportProgress returns a context whose calls tell report of long work, in place of the
// function of WithProgress: for a program in which several callers share an Engine and each
// wants to know of its own calls. The rules of WithProgress hold for report. nil tells nobody.
func ReportProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Report returns the function that calls with ctx tell of long work, nil when nobody listens: for
// packages that work for a caller of the Engine beside it. The rules of WithProgress hold for it.
func (e *Engine) Report(ctx context.Context) func(stage string, done, total int) {
	return e.report(ctx)
}

// report passes progress of a call on; it is nil when nobody listens.
func (e *Engine) report(ctx context.Context) func(stage string, done, total int) {
	tell, ok := ctx.Value(progressKey{}).(func(Progress))
	if !ok {
		tell = e.options.progress
	}
	if tell == nil {
		return nil
	}
	return func(stage string, done, total int) {
		defer e.reporting.begin()()
		tell(Progress{stage, done, total})
	}
}
