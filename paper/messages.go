package paper

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// A Question is what the client tells the server: a private first step over its hidden
// rows, one of which is the query and the others dummies, followed by the rows
// of the public set. It is all that the server learns of the query.
type Question struct {
	// Public is the hash of the public set, whose rows are the last of the
	// release, in its order.
	Public [sha256.Size]byte
	// Release is the first step with noise.
	Release *release.Release
	// Labels are the labels of all rows where the mode of the release is
	// release.ModePublic; empty otherwise.
	Labels []int32
}

// Check returns nil, or ErrQuestion for the first field that is wrong, or the
// *release.Error of its release.
func (q *Question) Check() error {
	if q.Release == nil {
		return fmt.Errorf("paper: %w: it has no release", ErrQuestion)
	}
	if err := q.Release.Check(); err != nil {
		return err
	}
	want := 0
	if q.Release.Labels.Mode == release.ModePublic {
		want = q.Release.Rows
	}
	if len(q.Labels) != want {
		return fmt.Errorf("paper: %w: %d labels in mode %s of %d rows", ErrQuestion, len(q.Labels), q.Release.Labels.Mode, q.Release.Rows)
	}
	for i, y := range q.Labels {
		if y < 0 || int(y) >= q.Release.Query.Classes {
			return fmt.Errorf("paper: %w: the label of row %d is not in 0 to %d", ErrQuestion, i+1, q.Release.Query.Classes-1)
		}
	}
	return nil
}

// Matches is what the server answers: for every hidden row of the question the
// rows of its gallery nearest to it in the embedding, nearest first.
type Matches struct {
	// Question is the id of the release that was asked with.
	Question [16]byte
	// Hidden is the number of hidden rows, Each that of matches for each of them.
	Hidden, Each int
	// IDs are the row numbers in the gallery, Each for each hidden row in turn,
	// and Distances belong to them.
	IDs       []int64
	Distances []float64
}

// Row returns the matches of a hidden row. They belong to m.
func (m *Matches) Row(hidden int) ([]int64, []float64) {
	lo, hi := hidden*m.Each, (hidden+1)*m.Each
	return m.IDs[lo:hi], m.Distances[lo:hi]
}

// Check returns nil, or ErrMatches for the first field that is wrong.
func (m *Matches) Check() error {
	n := len(m.IDs)
	if m.Hidden < 1 || m.Each < 1 || n%m.Hidden != 0 || n/m.Hidden != m.Each || len(m.Distances) != n {
		return fmt.Errorf("paper: %w: %d ids and %d distances, want %d for each of %d rows", ErrMatches, n, len(m.Distances), m.Each, m.Hidden)
	}
	for i, d := range m.Distances {
		switch {
		case d-d != 0 || d < 0:
			return fmt.Errorf("paper: %w: distance %d is negative or not finite", ErrMatches, i+1)
		case i%m.Each > 0 && d < m.Distances[i-1]:
			return fmt.Errorf("paper: %w: distance %d: want the nearest first", ErrMatches, i+1)
		case m.IDs[i] < 0:
			return fmt.Errorf("paper: %w: id %d is negative", ErrMatches, i+1)
		}
	}
	for hidden := range m.Hidden {
		ids, _ := m.Row(hidden)
		if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) < m.Each {
			return fmt.Errorf("paper: %w: an id is there twice for row %d", ErrMatches, hidden+1)
		}
	}
	return nil
}
