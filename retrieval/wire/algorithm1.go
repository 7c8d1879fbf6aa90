package wire

import (
	"io"
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
			return refuse("labels", "row %d: want 0 to %d", i+1, q.Release.Query.Classes-1)
		}
	}
	return nil
}

func (q *Question) format() format { return format{KindQuestion, algorithm1Version, newSHA256} }

func (q *Question) fields() (int64, func(*encoder), error) {
	release, err := q.Release.MarshalBinary()
	size := int64(len(q.Public)) + 8 + int64(len(release)) + 8 + 4*int64(len(q.Labels))
	return size, func(e *encoder) {
		e.fixed(q.Public[:])
		e.bytes(release)
		encodeSlice(e, q.Labels)
	}, err
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (q *Question) MarshalBinary() ([]byte, error) { return appendFrame(nil, q) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (q *Question) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, q) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (q *Question) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, q) }

// UnmarshalBinary reads the binary form. When it fails, q stays as it was.
func (q *Question) UnmarshalBinary(frame []byte) error {
	d, err := open(q.format(), frame)
	if err != nil {
		return err
	}
	out := Question{Release: new(release.Release)}
	d.fixed("public", out.Public[:])
	body := d.bytes("release")
	out.Labels = decodeSlice[int32](d, "labels")
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
			return refuse("ids", "entry %d is negative", i+1)
		}
		if d < 0 || i%m.K > 0 && d < m.Distances[i-1] {
			return refuse("distances", "entry %d: want the nearest first", i+1)
		}
	}
	for hidden := range m.Hidden {
		ids, _ := m.Row(hidden)
		if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) < m.K {
			return refuse("ids", "one is there twice for row %d", hidden+1)
		}
	}
	return nil
}

func (m *Matches) format() format { return format{KindMatches, algorithm1Version, newSHA256} }

func (m *Matches) fields() (int64, func(*encoder), error) {
	size := int64(len(m.Question)) + 3*8 + 16*int64(len(m.IDs))
	return size, func(e *encoder) {
		e.fixed(m.Question[:])
		e.uint64(uint64(m.Hidden))
		e.uint64(uint64(m.K))
		encodeNumbers(e, m.IDs)
		encodeSlice(e, m.Distances)
	}, nil
}

// MarshalBinary returns the binary form, and the error of Check when there is
// one.
func (m *Matches) MarshalBinary() ([]byte, error) { return appendFrame(nil, m) }

// AppendBinary appends the binary form to b, which is returned as it was after an error
// of Check.
func (m *Matches) AppendBinary(b []byte) ([]byte, error) { return appendFrame(b, m) }

// WriteTo writes the binary form to w, or nothing when Check has an error.
func (m *Matches) WriteTo(w io.Writer) (int64, error) { return writeFrame(w, m) }

// UnmarshalBinary reads the binary form. When it fails, m stays as it was.
func (m *Matches) UnmarshalBinary(frame []byte) error {
	d, err := open(m.format(), frame)
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
		out.IDs = decodeNumbers[int64](d, d.take("ids", 8*uint64(out.Hidden)*uint64(out.K)))
	}
	out.Distances = decodeSlice[float64](d, "distances")
	return finish(d, m, &out, out.Check)
}
