package supervised

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
)

// About says where the rows of a model came from: what somebody who finds the file wants to
// know. All of it is optional. It is written to the file as it is, so it should hold nothing
// that is secret.
type About struct {
	// Features and Labels are the names of the files. Of a path only the last element is
	// saved.
	Features string `json:"features,omitempty"`
	Labels   string `json:"labels,omitempty"`
	// Rows and Columns are the size of the features.
	Rows    int `json:"rows,omitempty"`
	Columns int `json:"columns,omitempty"`
	// Labelled is how many rows have a label, Classes how many labels there are.
	Labelled int `json:"labelled,omitempty"`
	Classes  int `json:"classes,omitempty"`
	// ColumnNames are the names of the columns of the features in files of earlier versions. Others have
	// them in the map.
	ColumnNames []string `json:"column_names,omitempty"`
}

// Save writes the model to a file that Open reads: the map, the recipe, X and Z, the facts of
// the graph, and checksums of all of them. The file is written under a temporary name, synced and
// renamed, so that an error leaves the file that was there before. Whoever has it has the label of
// each row and the names of classes, and the rows of X and Z, from which features can often be told.
//
// Errors: kernel.ErrShape and kernel.ErrNonFinite for a model that Fit has not made, that of
// ctx, and those of the system.
func (m *Model) Save(ctx context.Context, path string, about About) error {
	fill, err := m.sections(about)
	if err == nil {
		err = sections.Write(ctx, path, sections.Model, fileVersion, fill)
	}
	if err != nil {
		return fmt.Errorf("supervised: save: %w", err)
	}
	return nil
}

// sections returns what writes the sections of the file.
func (m *Model) sections(about About) (func(w *sections.Writer) error, error) {
	if err := m.checkSizes(); err != nil {
		return nil, err
	}
	about.Features, about.Labels = lastElement(about.Features), lastElement(about.Labels)
	moved := m.Z.Rows > 0 && !sameRows(m.Z, m.X)
	facts := modelFacts{
		Rows: m.X.Rows, Columns: m.X.Cols, Recipe: m.Recipe.String(), Graph: factsOfGraph(m.Graph),
		Trace: factsOfTrace(m.Trace), Held: factsOfHeld(m.Held), ChoiceTime: m.ChoiceTime, MapTime: m.MapTime, StepsTime: m.StepsTime,
	}
	return func(w *sections.Writer) error {
		if err := w.JSON(aboutSection, about); err != nil {
			return err
		}
		if err := w.JSON(factsSection, facts); err != nil {
			return err
		}
		if err := m.Map.save(w); err != nil {
			return err
		}
		if m.Graph != nil && m.Graph.Certificate.Row != nil {
			if err := sections.WriteNumbers(w, certificateSection, m.Graph.Certificate.Row); err != nil {
				return err
			}
		}
		if err := m.saveClasses(w); err != nil {
			return err
		}
		if moved {
			if err := saveRows(w, zSection, m.Z); err != nil {
				return err
			}
		}
		return saveRows(w, xSection, m.X)
	}, nil
}

// lastElement is filepath.Base, and nothing of nothing.
func lastElement(path string) string {
	if path == "" {
		return ""
	}
	return filepath.Base(path)
}

// checkSizes refuses a model whose parts do not fit.
func (m *Model) checkSizes() error {
	if m.Map == nil {
		return fmt.Errorf("%w: a model without a map", points.ErrShape)
	}
	if err := m.Map.Check(); err != nil {
		return err
	}
	if err := m.Recipe.Check(); err != nil {
		return err
	}
	n, k, err := points.Dims(m.X)
	if err != nil {
		return err
	}
	zn, zk, err := points.Dims(m.Z)
	if err != nil {
		return err
	}
	if n == 0 || k != m.Map.Columns() || zn != 0 && (zn != n || zk != k) {
		return fmt.Errorf("%w: X of %d x %d, Z of %d x %d, a map to %d columns", points.ErrShape, n, k, zn, zk, m.Map.Columns())
	}
	if g := m.Graph; g != nil && g.Certificate.Row != nil && len(g.Certificate.Row) != n {
		return fmt.Errorf("%w: a certificate of %d rows for %d", points.ErrShape, len(g.Certificate.Row), n)
	}
	return m.checkClasses()
}

// sameRows reports whether two matrices are one in memory.
func sameRows(a, b blas32.General) bool {
	return a.Rows == b.Rows && a.Cols == b.Cols && a.Stride == b.Stride && &a.Data[0] == &b.Data[0]
}

// save writes the sections of a map.
func (m *Map) save(w *sections.Writer) error {
	facts := mapFacts{Dim: m.Dim, Columns: m.Columns(), Root: m.Root, UnitRows: m.UnitRows, UnitImages: m.UnitImages, ColumnNames: m.ColumnNames}
	if err := w.JSON(mapSection, facts); err != nil {
		return err
	}
	if m.Mean != nil {
		if err := sections.WriteNumbers(w, meanSection, m.Mean); err != nil {
			return err
		}
	}
	if m.Scale != nil {
		if err := sections.WriteNumbers(w, scaleSection, m.Scale); err != nil {
			return err
		}
	}
	if m.A == nil {
		return nil
	}
	return w.Section(matrixSection, func(to io.Writer) error {
		for i := range m.Dim {
			if err := sections.PutNumbers(to, m.A.RawRowView(i)); err != nil {
				return err
			}
		}
		return nil
	})
}

// saveRows writes rows without what may lie between them.
func saveRows(w *sections.Writer, name string, x blas32.General) error {
	if x.Stride == x.Cols {
		return sections.WriteNumbers(w, name, x.Data[:x.Rows*x.Cols])
	}
	return w.Section(name, func(to io.Writer) error {
		for i := range x.Rows {
			if err := sections.PutNumbers(to, rowOf(x, i)); err != nil {
				return err
			}
		}
		return nil
	})
}
