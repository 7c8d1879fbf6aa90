package server

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// probeWidth is how many bytes of a word of a probe are sent.
const probeWidth = 3

// CheckRequest refuses a request that Answer would refuse: ErrEpoch for one of another epoch,
// ErrQuestion for one that is damaged or has another number of ciphertexts, columns or bytes a
// word than the manifest asks for.
func (g *Gallery) CheckRequest(request *wire.SealedRequest) error {
	if err := g.checkRequest(request); err != nil {
		return fmt.Errorf("sealed server: %w", err)
	}
	return nil
}

func (g *Gallery) checkRequest(request *wire.SealedRequest) error {
	return g.slots.matrix.checkRequest(request, g.epoch, probeWidth, g.manifest.Probes, g.manifest.Probes)
}

// Answer multiplies the gallery into the ciphertexts of requests. All share one pass over the
// gallery and are of one version. What it does and how long that takes does not depend on what
// the ciphertexts hold. Errors are those of CheckRequest, with the number of the request,
// ErrMemory, ErrClosed and that of ctx, which is looked at every few milliseconds; no request
// is answered then.
func (g *Gallery) Answer(ctx context.Context, requests ...*wire.SealedRequest) ([]*wire.SealedAnswer, error) {
	for i, r := range requests {
		if err := g.checkRequest(r); err != nil {
			return nil, fmt.Errorf("sealed server: request %d: %w", i, err)
		}
	}
	if err := g.use(); err != nil {
		return nil, err
	}
	defer g.calls.End()
	g.mu.RLock()
	defer g.mu.RUnlock()
	answers, err := g.slots.matrix.answers(ctx, g.workers, requests)
	if err != nil {
		return nil, fmt.Errorf("sealed server: %w", err)
	}
	for _, a := range answers {
		a.Version = g.slots.version
	}
	return answers, nil
}
