package supervised

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// Classes returns the labels that rows of the model have, ascending; nil where they have none.
func (m *Model) Classes() []int32 {
	var all []int32
	seen := map[int32]bool{}
	for _, label := range m.Labels {
		if label >= 0 && !seen[label] {
			seen[label] = true
			all = append(all, label)
		}
	}
	slices.Sort(all)
	return all
}

// checkClasses refuses labels and names that do not fit the rows or each other.
func (m *Model) checkClasses() error {
	if m.Labels != nil && len(m.Labels) != m.X.Rows {
		return fmt.Errorf("%w: %d labels of %d rows", points.ErrShape, len(m.Labels), m.X.Rows)
	}
	for i, label := range m.Labels {
		if label < kernel.Unlabelled || m.ClassNames != nil && int(label) >= len(m.ClassNames) {
			return fmt.Errorf("%w: the label of row %d is below -1, or there is no name for it", kernel.ErrLabels, i+1)
		}
	}
	seen := make(map[string]bool, len(m.ClassNames))
	for i, name := range m.ClassNames {
		if seen[name] || !utf8.ValidString(name) {
			return fmt.Errorf("%w: the name of class %d is that of another, or not UTF-8", kernel.ErrLabels, i)
		}
		seen[name] = true
	}
	return nil
}

// saveClasses writes what there is of labels and names.
func (m *Model) saveClasses(w *sections.Writer) error {
	if m.Labels != nil {
		if err := sections.WriteNumbers(w, labelsSection, m.Labels); err != nil {
			return err
		}
	}
	if m.ClassNames != nil {
		return w.JSON(namesSection, m.ClassNames)
	}
	return nil
}

// readClasses reads a copy of labels and names.
func (m *Model) readClasses(file *sections.File) error {
	if file.Has(labelsSection) {
		if err := file.Verify(context.Background(), labelsSection); err != nil {
			return err
		}
		labels, err := sections.Numbers[int32](file, labelsSection)
		if err != nil {
			return err
		}
		m.Labels = append(make([]int32, 0, len(labels)), labels...)
	}
	if file.Has(namesSection) {
		if err := file.JSON(namesSection, &m.ClassNames); err != nil {
			return err
		}
	}
	if err := m.checkClasses(); err != nil {
		return file.Damagedf("%w", err)
	}
	return nil
}
