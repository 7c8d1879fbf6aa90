package wire

import (
	"slices"

	"github.com/seed-64e14a55/privatemail/mechanism/release"
)

// The messages of Algorithm 1.
const (
	KindQuestion Kind = 1
	KindMatches  Kind = 2
)

const algorithm1Version = 1

// A Question is what the client sends: a private first step over its hidden
// rows, one of which is the query and the others dummies, followed by the rows
// of the public set. It is all that the client tells the server of the query.
type Question struct {
	// Public is the hash of the public set, whose rows are the last of the
	// release, in its order.
	Public Hash
	// Release is the first step with noise.
	Release *release.Release
	// Labels are the labels of all rows where the mode of the release is
	// release.ModePublic; empty otherwise.
	Labels []int32
}

// Check returns nil, or an *Error for the first field that is wrong, or the
// *release.Error of its release.
func (q *Question) Check() error {
	if q.Release == nil {
		return refuse("release", "there is none")
	}
	if err := q.Release.Check(); err != nil {
		return err
	}
	want := 0
	if q.Release.Labels.Mode == release.ModePublic {
		want = q.Release.Rows
	}
	if len(q.Labels) != want {
		return refuse("labels", "%d in mode %s of %d rows", len(q.Labels), q.Release.Labels.Mode, q.Release.Rows)
	}
	for i, y := range q.Labels {
		if y < 0 || int(y) >= q.Release.Query.Classes {
			return refuse("labels", "row %d: want 0 to %d", i, q.Release.Query.Classes-1)
		}
	}
	return nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (q *Question) MarshalBinary() ([]byte, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	body, err := q.Release.MarshalBinary()
	if err != nil {
		return nil, err
	}
	var e encoder
	e.fixed(q.Public[:])
	e.bytes(body)
	e.int32s(q.Labels)
	return seal(KindQuestion, algorithm1Version, e.body)
}

// UnmarshalBinary reads the binary form. When it fails, q stays as it was.
func (q *Question) UnmarshalBinary(frame []byte) error {
	d, err := open(KindQuestion, algorithm1Version, frame)
	if err != nil {
		return err
	}
	out := Question{Release: new(release.Release)}
	d.fixed("public", out.Public[:])
	body := d.bytes("release")
	out.Labels = d.int32s("labels")
	return finish(d, q, &out, func() error {
		if err := out.Release.UnmarshalBinary(body); err != nil {
			return err
		}
		return out.Check()
	})
}

// Matches is what the server answers: for every hidden row of the question the
// rows of its gallery nearest to it in the embedding, nearest first.
type Matches struct {
	// Question is the id of the release that was asked with.
	Question [16]byte
	// Hidden is the number of hidden rows, K that of matches for each.
	Hidden, K int
	// IDs are the row numbers in the gallery, K for each hidden row in turn,
	// and Distances belong to them.
	IDs       []int64
	Distances []float64
}

// Row returns the matches of a hidden row. They belong to m.
func (m *Matches) Row(hidden int) ([]int64, []float64) {
	lo, hi := hidden*m.K, (hidden+1)*m.K
	return m.IDs[lo:hi], m.Distances[lo:hi]
}

// Check returns nil, or an *Error for the first field that is wrong.
func (m *Matches) Check() error {
	if m.Hidden < 1 || m.K < 1 || m.Hidden > maxMessage || m.K > maxMessage/m.Hidden {
		return refuse("matches", "%d for each of %d rows", m.K, m.Hidden)
	}
	if n := m.Hidden * m.K; len(m.IDs) != n || len(m.Distances) != n {
		return refuse("matches", "%d ids and %d distances, want %d", len(m.IDs), len(m.Distances), n)
	}
	if !allFinite(m.Distances) {
		return refuse("distances", "they are not all finite")
	}
	for i, d := range m.Distances {
		if m.IDs[i] < 0 {
			return refuse("ids", "entry %d is negative", i)
		}
		if d < 0 || i%m.K > 0 && d < m.Distances[i-1] {
			return refuse("distances", "entry %d: want the nearest first", i)
		}
	}
	for hidden := range m.Hidden {
		ids, _ := m.Row(hidden)
		if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) < m.K {
			return refuse("ids", "one is there twice for row %d", hidden)
		}
	}
	return nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (m *Matches) MarshalBinary() ([]byte, error) {
	if err := m.Check(); err != nil {
		return nil, err
	}
	var e encoder
	e.fixed(m.Question[:])
	e.uint64(uint64(m.Hidden))
	e.uint64(uint64(m.K))
	for _, id := range m.IDs {
		e.uint64(uint64(id))
	}
	e.float64s(m.Distances)
	return seal(KindMatches, algorithm1Version, e.body)
}

// UnmarshalBinary reads the binary form. When it fails, m stays as it was.
func (m *Matches) UnmarshalBinary(frame []byte) error {
	d, err := open(KindMatches, algorithm1Version, frame)
	if err != nil {
		return err
	}
	var out Matches
	d.fixed("question", out.Question[:])
	out.Hidden, out.K = d.whole("hidden", maxMessage), d.whole("k", maxMessage)
	// Each match takes 16 bytes, so what is left bounds what may be asked for.
	if out.Hidden > 0 && out.K > len(d.left)/16/out.Hidden {
		d.fail(refuse("matches", "%d for each of %d rows in %d bytes", out.K, out.Hidden, len(d.left)))
	}
	if d.err == nil {
		out.IDs = make([]int64, out.Hidden*out.K)
	}
	for i := range out.IDs {
		out.IDs[i] = int64(d.uint64("ids"))
	}
	out.Distances = d.float64s("distances")
	return finish(d, m, &out, out.Check)
}
