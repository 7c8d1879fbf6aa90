package server

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed/internal/scheme"
)

// A file of records has these sections.
const (
	recordsKind    = "records"
	recordsVersion = 1

	recordsManifest = "manifest" // a frame
	recordsHint     = "hint"     // rows of the hint, one behind the other, uint32
	recordsPanels   = "panels"   // of the matrix
)

// Save writes the records to a file, for OpenRecords. It is written to a temporary name, synced
// and renamed; when it fails or ctx ends, a file that was there is as it was. Errors are
// ErrClosed, that of ctx, and those of the system.
func (r *Records) Save(ctx context.Context, path string) error {
	if err := r.begin(); err != nil {
		return err
	}
	defer r.calls.End()
	if err := sections.Write(ctx, path, recordsKind, recordsVersion, r.save); err != nil {
		return fmt.Errorf("sealed server: %w", err)
	}
	return nil
}

func (r *Records) save(w *sections.Writer) error {
	if err := w.Message(recordsManifest, &r.manifest); err != nil {
		return err
	}
	if err := sections.WriteNumbers(w, recordsHint, r.hint); err != nil {
		return err
	}
	return r.matrix.write(w, recordsPanels)
}

// OpenRecords opens records that Save has written: the same epoch, hint and answers. All of the
// file is read into memory, and its checksums are compared: what becomes of the file later changes
// no answer. Whoever opens records calls Close, which gives the memory back.
//
// Errors match formats.ErrUnsupported for a file that has no records, or one of another version,
// formats.ErrFormat for one that was truncated or changed, or are that of ctx and those of the
// system.
func OpenRecords(ctx context.Context, path string) (*Records, error) {
	file, err := sections.Load(ctx, path, recordsKind)
	if err != nil {
		return nil, fmt.Errorf("sealed server: %w", err)
	}
	r := &Records{file: file}
	if err := r.open(); err != nil {
		return nil, fmt.Errorf("sealed server: %w", errors.Join(err, file.Close()))
	}
	return r, nil
}

// open sets r to what its file has. The manifest says how long the other sections are.
func (r *Records) open() (err error) {
	if err := r.file.CheckVersion(recordsVersion); err != nil {
		return err
	}
	if err := r.file.Message(recordsManifest, &r.manifest); err != nil {
		return err
	}
	if r.epoch, err = r.manifest.Hash(); err != nil {
		return err
	}
	if r.matrix, err = openMatrix(r.file, recordsPanels, r.manifest.MatrixRows(), r.manifest.Columns()); err != nil {
		return err
	}
	if r.hint, err = sections.Numbers[uint32](r.file, recordsHint); err != nil {
		return err
	}
	if int64(len(r.hint)) != int64(r.matrix.rows)*scheme.SecretWords {
		return r.file.Damagedf("section %q: %d words for %d rows", recordsHint, len(r.hint), r.matrix.rows)
	}
	return nil
}

// begin is followed by r.calls.End, if it returns no error.
func (r *Records) begin() error {
	if !r.calls.Begin() {
		return fmt.Errorf("sealed server: %w", ErrClosed)
	}
	return nil
}

// Close ends the use of records, and of the file that they were opened from. Calls that come
// later are refused with ErrClosed; Close waits for those that are running, and for whoever
// holds the records.
func (r *Records) Close() error {
	r.calls.Close()
	r.closing.Do(func() {
		if r.file != nil {
			r.closeErr = r.file.Close()
		}
	})
	return r.closeErr
}

// Hold keeps records open until release is called, once: Close waits for it. The error is
// ErrClosed.
func (r *Records) Hold() (release func(), err error) {
	if err := r.begin(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(r.calls.End), nil
}
