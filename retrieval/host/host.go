package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/par"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A Host is a service that offers what a file has.
type Host struct {
	settings Settings
	service  *service.Service
	workers  *par.Workers // answer in mode sealed
}

// New returns a host whose service offers nothing yet. Errors are those of service.New.
func New(settings Settings) (*Host, error) {
	h := &Host{settings: settings.withDefaults()}
	with := settings.Service
	with.Share = shareOf(&h.settings)
	var err error
	if h.service, err = service.New(with); err != nil {
		return nil, err
	}
	h.workers = par.New(settings.Workers)
	return h, nil
}

// shareOf returns how much one client may have, 0 for the default of services. To a shard all requests
// of a front end are those of one client, which may have everything unless the settings say how much.
func shareOf(s *Settings) float64 {
	if s.Service.Share == 0 {
		// A file that cannot be read is refused when it is loaded.
		if kind, err := Kind(s.File); err == nil && kind == "shard" {
			return 1
		}
	}
	return s.Service.Share
}

// Service returns the service, whose Public answers requests and whose Run listens.
func (h *Host) Service() *service.Service { return h.service }

// Close ends the service and closes what it offers.
func (h *Host) Close() {
	h.service.Close()
	h.workers.Close() // after the service, whose requests use them
}

// Kind returns what a file is: "model", "gallery", "shard" or "sealed".
func Kind(path string) (string, error) {
	file, err := sections.Open(path, "")
	if err != nil {
		return "", err
	}
	kind := file.Kind()
	return kind, file.Close()
}

// meter begins to show a piece of work.
func (h *Host) meter() (report func(stage string, done, total int), end func()) {
	if h.settings.Meter == nil {
		return func(string, int, int) {}, func() {}
	}
	return h.settings.Meter()
}

// bytesRead reports how much of a file was read, as a stage. Short files are read at once.
func bytesRead(report func(stage string, done, total int), stage string) func(done, total int64) {
	const unit, short = 1 << 20, 64 << 20
	return func(done, total int64) {
		if total > short {
			report(stage, int(done/unit), int(total/unit))
		}
	}
}

// Load offers what the file has now. After an error the service offers what it did before.
func (h *Host) Load(ctx context.Context) error {
	g, err := h.openGallery(ctx)
	if err == nil {
		file := h.settings.File
		g.Name = cmp.Or(h.settings.Name, strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)))
		if shard := shardOf(g); shard != nil && h.settings.Name == "" {
			g.Name = strings.TrimSuffix(g.Name, shard.Ending()) // as the gallery is called
		}
		err = h.publish(ctx, *g)
	}
	if err != nil {
		return errors.Join(err, closeGallery(g))
	}
	return nil
}

// shardOf returns which shard of a gallery there is, nil for none.
func shardOf(g *service.Offer) *server.Shard {
	if g.Cells == nil {
		return nil
	}
	return g.Cells.Shard()
}

// closeGallery closes what is not published.
func closeGallery(g *service.Offer) error {
	var errs []error
	if g.Cells != nil {
		errs = append(errs, g.Cells.Close())
	}
	if g.Sealed != nil {
		errs = append(errs, g.Sealed.Close())
	}
	if g.Records != nil {
		errs = append(errs, g.Records.Close())
	}
	return errors.Join(errs...)
}

// beside returns the file with an ending that goes with a model or a gallery.
func (h *Host) beside(ending string) string {
	name := cmp.Or(h.settings.Gallery, h.settings.File)
	if ending == ".gallery" && h.settings.Gallery != "" {
		return name
	}
	return strings.TrimSuffix(name, filepath.Ext(name)) + ending
}

// openGallery opens a gallery, or what belongs to a model, which is made where there is none.
// The result must be closed even after an error.
func (h *Host) openGallery(ctx context.Context) (g *service.Offer, err error) {
	g = new(service.Offer)
	kind, err := Kind(h.settings.File)
	if err != nil {
		return g, missing(h.settings.File, err)
	}
	if kind == "gallery" || kind == "shard" || kind == "sealed" {
		return g, h.openParts(ctx, g, kind, nil)
	}
	saved, err := h.openModel(ctx)
	if err != nil {
		return g, err
	}
	defer saved.Close() // only read from: nothing is lost when closing fails
	return g, h.reading(func() error { return h.openParts(ctx, g, kind, saved) })
}

// reading reads a model, which is mapped. One that is truncated meanwhile is an error, and does not
// end the service.
func (h *Host) reading(read func() error) error {
	err := func() (err error) {
		defer disk.Faults(&err)()
		return read()
	}()
	thrown, ok := errors.AsType[*par.PanicError](err) // of a worker
	if errors.Is(err, disk.ErrLost) || ok && disk.IsFault(thrown.Value) {
		return fmt.Errorf("%s: %w", h.settings.File, disk.ErrLost)
	}
	return err
}

// openParts opens the parts of a gallery, and makes those of a model that are missing. saved is
// nil without a model.
func (h *Host) openParts(ctx context.Context, g *service.Offer, kind string, saved *supervised.Saved) (err error) {
	f := &h.settings
	switch {
	case kind == "gallery":
		g.Cells, err = server.OpenCells(ctx, f.File)
	case kind == "shard":
		g.Cells, err = server.OpenShard(ctx, f.File)
	case saved != nil && f.Epsilon > 0:
		g.Cells, err = h.openCells(ctx, saved)
	}
	if err != nil {
		return err
	}
	switch {
	case kind == "sealed":
		g.Sealed, err = h.openSealedFile(ctx, f.File)
	case kind == "gallery" && f.Sealed:
		path := h.beside(".sealed")
		if g.Sealed, err = h.openSealedFile(ctx, path); err != nil {
			err = missing(path, err)
		} else if !sameRows(g) {
			err = fmt.Errorf("%s and %s have other rows: they belong to two versions of a model, and would give other answers in each mode; serve the MODEL, which makes both again", f.File, path)
		}
	case f.Sealed:
		g.Sealed, err = h.openSealed(ctx, saved)
	}
	if err == nil && f.Records != "" && g.Sealed == nil {
		err = fmt.Errorf("%s: records are fetched in mode sealed, and %s is served without it", f.Records, f.File)
	}
	if err == nil && f.Records != "" {
		g.Records, err = h.openRecords(ctx, g.Sealed)
	}
	return err
}

// sameRows reports whether cells and a sealed gallery have the same rows, all bytes of them. Of a sealed
// gallery that was not made here only their number is known.
func sameRows(g *service.Offer) bool {
	rows := g.Cells.Rows()
	if rows.Rows != g.Sealed.Rows() {
		return false
	}
	of, ok := parseSealedSource(g.Sealed.Source())
	return !ok || of.Hash == "" || of.Hash == hashRows(rows, rows.Rows)
}

// openModel opens the model and verifies all of it, before anything is made of it.
func (h *Host) openModel(ctx context.Context) (*supervised.Saved, error) {
	report, end := h.meter()
	defer end()
	return supervised.Open(ctx, h.settings.File, bytesRead(report, "MiB of the model"))
}
