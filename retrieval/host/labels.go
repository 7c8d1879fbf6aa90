package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// publish makes a gallery the one that is served, with the labels of the settings.
func (h *Host) publish(ctx context.Context, g service.Offer) error {
	return Publish(ctx, h.service, g, h.settings.Labels)
}

// Publish makes a gallery the one that a service answers from, with the labels of a file: one for each
// row, or a model. An empty path publishes none. It is for galleries that have no Host, such as that of
// a front end.
func Publish(ctx context.Context, s *service.Service, g service.Offer, labels string) (err error) {
	if labels == "" {
		return s.Publish(g)
	}
	if g.Labels, err = readLabels(ctx, labels); err != nil {
		return err
	}
	if err = s.Publish(g); err != nil {
		return &LabelsError{Err: fmt.Errorf("%s: %w", labels, err), Refused: true}
	}
	return nil
}

// readLabels reads the labels that are to be published.
func readLabels(ctx context.Context, path string) (*wire.Labels, error) {
	if file, err := sections.Open(path, sections.Model); err == nil {
		if err := file.Close(); err != nil {
			return nil, err
		}
		return labelsOfModel(ctx, path)
	} else if errors.Is(err, sections.ErrKind) {
		return nil, &LabelsError{Err: fmt.Errorf("%s: a gallery has no labels; name its MODEL, or a file with a label for each row", path)}
	}
	l, err := formats.ReadNamedLabels(ctx, path, nil)
	if err != nil {
		return nil, &LabelsError{Err: missing(path, err)}
	}
	return &wire.Labels{Labels: l.Class, Names: l.Names}, nil
}

// labelsOfModel returns those of the rows of a model.
func labelsOfModel(ctx context.Context, path string) (_ *wire.Labels, err error) {
	saved, err := supervised.Open(ctx, path, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, saved.Close()) }()
	if saved.Model.Labels == nil {
		return nil, &LabelsError{Err: fmt.Errorf("%s: %w", path, supervised.ErrNoClasses)}
	}
	return &wire.Labels{Labels: saved.Model.Labels, Names: saved.Model.ClassNames}, nil
}
