package supervised

import (
	"context"
	"fmt"
	"io"

	"github.com/seed-64e14a55/privatemail/internal/sections"
)

// Write writes the bytes of the file that Save makes, for somebody who keeps models elsewhere.
// Errors: those of Save, and that of w.
func (m *Model) Write(w io.Writer, about About) error {
	fill, err := m.sections(about)
	if err == nil {
		err = sections.WriteTo(w, sections.Model, fileVersion, fill)
	}
	if err != nil {
		return fmt.Errorf("supervised: write: %w", err)
	}
	return nil
}

// Read takes bytes for the file of a model, those of Save and Write. All checksums are compared.
// The rows of the model are views of the bytes, which must not change while it is in use. Close
// does nothing. Errors match ErrFile.
func Read(data []byte) (*Saved, error) {
	const name = "bytes of a model"
	file, err := sections.Parse(name, data)
	if err != nil {
		return nil, openError(err)
	}
	if file.Kind() != sections.Model {
		return nil, openError(fmt.Errorf("%s: %w", name, sections.ErrKind))
	}
	if err := file.CheckVersion(fileVersion); err != nil {
		return nil, openError(err)
	}
	return readSaved(context.Background(), file, nil)
}
