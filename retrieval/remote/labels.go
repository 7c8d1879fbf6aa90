package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/seed-64e14a55/privatemail/retrieval/internal/limits"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// ErrNoLabels reports a server that publishes no labels of its rows.
var ErrNoLabels = errors.New("the server publishes no labels of the rows of its gallery")

// Labels returns the labels of all rows of the gallery that a codebook is of, one that Codebook has
// returned or the cache holds. They are taken from the server at each call: it may have others
// tomorrow. Errors are ErrNoLabels, and those of Base.
func (s *Server) Labels(ctx context.Context, codebook wire.Hash) (*wire.Labels, error) {
	book, err := s.known(codebook)
	if err != nil {
		return nil, err
	}
	return s.labels(ctx, ofCodebook(codebook), codebook, book.Rows)
}

// SealedLabels is Labels for the rows of an epoch, as it began or with those that came later. The epoch
// and errors are as for SealedHint, and ErrNoLabels.
func (s *Server) SealedLabels(ctx context.Context, epoch wire.Hash) (*wire.Labels, error) {
	manifest, err := s.manifest(epoch)
	if err != nil {
		return nil, err
	}
	return s.labels(ctx, ofEpoch(epoch), epoch, manifest.Rows)
}

func (s *Server) labels(ctx context.Context, query url.Values, asked wire.Hash, rows int) (*wire.Labels, error) {
	labels := new(wire.Labels)
	o := &order{
		what: "labels", path: "/v1/labels", query: query, asked: asked, most: limits.LabelBytes(rows),
		check: func(body []byte) error {
			*labels = wire.Labels{}
			if err := json.Unmarshal(body, labels); err != nil {
				return errors.New("they are no labels")
			}
			return labels.Check(rows)
		},
	}
	got := new(received)
	err := s.fetch(ctx, o, got)
	if refused, ok := errors.AsType[*RefusedError](err); ok && refused.Status == http.StatusNotFound {
		return nil, fmt.Errorf("remote: %w", ErrNoLabels) // an earlier version does not know the path
	}
	if err != nil {
		return nil, err
	}
	s.memory.hold(o.what, o.held()*int64(len(got.data)))
	return labels, nil
}
