package supervised

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/sections"
)

// ErrFile reports a file that is not a model, or a damaged one. Errors of Open also match
// formats.ErrUnsupported or formats.ErrFormat.
var ErrFile = errors.New("not a model that can be read")

// Saved is a model from a file.
type Saved struct {
	// Model is the model as Save got it, what its graph was expected to cost apart. The rows of
	// X and Z, and of the certificate of the graph, are views of the file where the system maps
	// files: they must not be changed, and are gone after Close. Map and the rest stay.
	Model *Model
	// About is what Save was told.
	About About

	file *sections.File
}

// Open opens a file of Model.Save and compares all its checksums, which reads all of it: about a
// tenth of a second for a gigabyte that the system has in memory. progress is called with the
// bytes that were read so far and those of the file, unless it is nil. Call Close when done.
//
// Errors match ErrFile for a file that is foreign, damaged or of another version, and are that of
// ctx and those of the system otherwise.
func Open(ctx context.Context, path string, progress func(done, total int64)) (*Saved, error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	s, err := readSaved(ctx, file, progress)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// readSaved reads what Open reads of a file.
func readSaved(ctx context.Context, file *sections.File, progress func(done, total int64)) (*Saved, error) {
	s := &Saved{file: file}
	err := file.Reading(func() (err error) {
		if s.Model, err = readModel(file); err == nil {
			err = file.JSON(aboutSection, &s.About)
		}
		return err
	})
	if err == nil { // behind what was copied
		err = file.VerifyAll(ctx, progress)
	}
	if err != nil {
		return nil, openError(err)
	}
	return s, nil
}

// OpenMap reads the map alone from a file of Model.Save, and compares the checksums of what it
// reads. Errors are those of Open.
func OpenMap(path string) (_ *Map, err error) {
	file, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	m, err := readMap(file)
	return m, openError(err)
}

// Verify compares all checksums again, and whether somebody has written to the file since it was
// opened. Open has compared them; what was made of the rows since is that of the whole file if
// there is no error. It ends with ctx. The error matches ErrFile where the file was changed or
// truncated.
func (s *Saved) Verify(ctx context.Context) error { return openError(s.file.VerifyAll(ctx, nil)) }

// Reading calls read, which reads rows of the model, and then Verify: without an error, what read has
// made of them is that of the whole file. A file that is truncated meanwhile is an error, and no
// end of the process, as long as read leaves the rows to no other goroutine. Errors are that of
// read and those of Verify.
func (s *Saved) Reading(ctx context.Context, read func() error) error {
	var own error
	err := s.file.Reading(func() error {
		own = read()
		return own
	})
	switch {
	case own != nil && !errors.Is(err, sections.ErrDamaged): // an error that has nothing to do with the file
		return own
	case err == nil:
		err = s.file.VerifyAll(ctx, nil)
	}
	return openError(err)
}

// Save writes the model to another file, or puts a new one in the place of its own, as Model.Save
// does. The rows are those of a file that was verified again before the new one takes its name.
// Errors are those of Model.Save and of Verify.
func (s *Saved) Save(ctx context.Context, path string) error {
	err := sections.Write(ctx, path, sections.Model, fileVersion, func(w *sections.Writer) error {
		return s.Reading(ctx, func() error {
			fill, err := s.Model.sections(s.About)
			if err != nil {
				return err
			}
			return fill(w)
		})
	})
	if err != nil {
		return fmt.Errorf("supervised: save: %w", err)
	}
	return nil
}

// Hash returns the SHA-256 of the file, all its bytes. It takes longer than Open: a second or two
// for a gigabyte. It ends with ctx, and reports progress as Open does. Errors are those of Open.
func (s *Saved) Hash(ctx context.Context, progress func(done, total int64)) ([sha256.Size]byte, error) {
	sum, err := s.file.Hash(ctx, progress)
	return sum, openError(err)
}

// Close releases the rows. It must not run while they are in use.
func (s *Saved) Close() error { return s.file.Close() }

// openFile opens a file of the right kind and version.
func openFile(path string) (*sections.File, error) {
	file, err := sections.Open(path, sections.Model)
	if err != nil {
		return nil, openError(err)
	}
	if err := file.CheckVersion(fileVersion); err != nil {
		return nil, errors.Join(openError(err), file.Close())
	}
	return file, nil
}

// openError marks what is wrong with a file, and leaves errors of the system as they are.
func openError(err error) error {
	for _, kind := range []error{sections.ErrForeign, sections.ErrKind, sections.ErrVersion, sections.ErrDamaged} {
		if errors.Is(err, kind) {
			return fmt.Errorf("supervised: open: %w", &fileError{err})
		}
	}
	if err != nil {
		return fmt.Errorf("supervised: open: %w", err)
	}
	return nil
}

// fileError adds ErrFile to an error without a change of its text.
type fileError struct{ err error }

func (e *fileError) Error() string   { return e.err.Error() }
func (e *fileError) Unwrap() []error { return []error{e.err, ErrFile} }

func readModel(file *sections.File) (*Model, error) {
	var facts modelFacts
	if err := file.JSON(factsSection, &facts); err != nil {
		return nil, err
	}
	m, err := readMap(file)
	if err != nil {
		return nil, err
	}
	if facts.Rows < 1 || facts.Columns != m.Columns() {
		return nil, file.Damagedf("rows of %d columns, and a map to %d", facts.Columns, m.Columns())
	}
	recipe, err := ParseRecipe(facts.Recipe)
	if err != nil {
		return nil, file.Damagedf("the recipe")
	}
	held, err := facts.Held.held()
	if err != nil {
		return nil, file.Damagedf("what was measured")
	}
	model := &Model{
		Recipe: recipe, Map: m, Trace: traceOf(facts.Trace), Held: held,
		ChoiceTime: facts.ChoiceTime, MapTime: facts.MapTime, StepsTime: facts.StepsTime,
	}
	if model.X, err = readRows(file, xSection, facts.Rows, facts.Columns); err != nil {
		return nil, err
	}
	switch {
	case file.Has(zSection):
		if model.Z, err = readRows(file, zSection, facts.Rows, facts.Columns); err != nil {
			return nil, err
		}
	case recipe.Steps == 0:
		model.Z = model.X
	}
	var bounds []float32
	if file.Has(certificateSection) {
		if bounds, err = sections.Numbers[float32](file, certificateSection); err != nil {
			return nil, err
		}
		if len(bounds) != facts.Rows {
			return nil, file.Damagedf("a certificate of %d rows for %d", len(bounds), facts.Rows)
		}
	}
	model.Graph = facts.Graph.graph(bounds)
	return model, model.readClasses(file)
}

// readRows returns rows as a view of the file.
func readRows(file *sections.File, name string, n, k int) (x blas32.General, err error) {
	data, err := sections.Numbers[float32](file, name)
	if err != nil {
		return x, err
	}
	if n > math.MaxInt/k || len(data) != n*k {
		return x, file.Damagedf("section %q has %d numbers, for %d x %d rows", name, len(data), n, k)
	}
	return blas32.General{Rows: n, Cols: k, Stride: k, Data: data}, nil
}

// readMap returns a copy of the map.
func readMap(file *sections.File) (*Map, error) {
	var facts mapFacts
	if err := file.JSON(mapSection, &facts); err != nil {
		return nil, err
	}
	if facts.Dim < 1 || facts.Dim > mostColumns || facts.Columns < 1 || facts.Columns > mostColumns {
		return nil, file.Damagedf("a map from %d columns to %d", facts.Dim, facts.Columns)
	}
	m := &Map{Dim: facts.Dim, Root: facts.Root, UnitRows: facts.UnitRows, UnitImages: facts.UnitImages, ColumnNames: facts.ColumnNames}
	var matrix []float64
	for _, part := range []struct {
		name string
		to   *[]float64
	}{{meanSection, &m.Mean}, {scaleSection, &m.Scale}, {matrixSection, &matrix}} {
		if !file.Has(part.name) {
			continue
		}
		if err := file.Verify(context.Background(), part.name); err != nil {
			return nil, err
		}
		v, err := sections.Numbers[float64](file, part.name)
		if err != nil {
			return nil, err
		}
		*part.to = slices.Clone(v)
	}
	switch {
	case matrix == nil && facts.Columns != facts.Dim, matrix != nil && int64(len(matrix)) != int64(facts.Dim)*int64(facts.Columns):
		return nil, file.Damagedf("a matrix of %d x %d in %d numbers", facts.Dim, facts.Columns, len(matrix))
	case matrix != nil:
		m.A = mat.NewDense(facts.Dim, facts.Columns, matrix)
	}
	if err := m.Check(); err != nil {
		return nil, file.Damagedf("%w", err)
	}
	return m, nil
}
