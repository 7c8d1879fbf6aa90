//go:build unix

package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/disk"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// A model that changes while a gallery is made of it leaves no gallery, and the process goes on.
func TestModelChangesMeanwhile(t *testing.T) {
	folder := t.TempDir()
	for name, change := range map[string]func(path string, size int64) error{
		"truncated": func(path string, _ int64) error { return os.Truncate(path, 0) },
		"rows overwritten": func(path string, size int64) error {
			whole, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = whole.WriteAt(make([]byte, 64), size/2)
			return errors.Join(err, whole.Close())
		},
	} {
		for kind, make := range map[string]func(h *Host, saved *supervised.Saved) error{
			"cells": func(h *Host, saved *supervised.Saved) error {
				return h.makeGallery(t.Context(), saved, h.beside(".gallery"), "source", 1)
			},
			"sealed": func(h *Host, saved *supervised.Saved) error {
				return h.makeSealed(t.Context(), saved, sealedSource{}, h.beside(".sealed"))
			},
			"both": func(h *Host, saved *supervised.Saved) error {
				_, err := h.openCells(t.Context(), saved)
				return err
			},
		} {
			model := modelOf(t)
			h, err := New(Settings{File: model, Epsilon: 4, Gallery: filepath.Join(folder, "g"), Workers: 2})
			if err != nil {
				t.Fatal(err)
			}
			saved, err := h.openModel(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(model)
			if err != nil {
				t.Fatal(err)
			}
			if err := change(model, info.Size()); err != nil {
				t.Fatal(err)
			}
			err = h.reading(func() error { return make(h, saved) })
			if !errors.Is(err, disk.ErrLost) && !errors.Is(err, supervised.ErrFile) || !strings.Contains(err.Error(), model) {
				t.Errorf("%s, %s: %v", name, kind, err)
			}
			if err := saved.Close(); err != nil {
				t.Error(err)
			}
			h.Close()
			if entries, err := os.ReadDir(folder); err != nil || len(entries) > 0 {
				t.Errorf("%s, %s: it leaves %v, %v", name, kind, entries, err)
			}
		}
	}
}
