package privatemail

import "context"

// progressKey is the key of a progress function in a context.
type progressKey struct{}

// ReportProgress returns a context whose calls report long work to report, in place of the
// function of WithProgress: for a program in which several callers share an Engine and each
// follows its own calls. The rules of WithProgress hold for report. nil turns progress off.
func ReportProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Report returns the progress function of calls with ctx, or nil: for packages that do other work
// for a caller of the Engine. The rules of WithProgress hold for it.
func (e *Engine) Report(ctx context.Context) func(stage string, done, total int) {
	return e.report(ctx)
}

// report returns the function that passes on the progress of a call, or nil.
func (e *Engine) report(ctx context.Context) func(stage string, done, total int) {
	tell, ok := ctx.Value(progressKey{}).(func(Progress))
	if !ok {
		tell = e.options.progress
	}
	if tell == nil {
		return nil
	}
	return func(stage string, done, total int) { tell(Progress{stage, done, total}) }
}
