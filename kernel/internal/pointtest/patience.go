package pointtest

import "context"

// Patience is a context that is cancelled when it has been asked so often.
type Patience struct {
	context.Context
	Left int // questions that it still answers with nil
}

// Err returns context.Canceled when no questions are left.
func (p *Patience) Err() error {
	if p.Left--; p.Left < 0 {
		return context.Canceled
	}
	return nil
}
