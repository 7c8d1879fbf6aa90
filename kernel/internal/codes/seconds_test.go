package codes

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/simd"
	"github.com/seed-64e14a55/privatemail/kernel/internal/pointtest"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
)

// The estimate follows from what a search then does, whatever the memory is.
func TestSecondsFollowFromTheSearch(t *testing.T) {
	for _, c := range []struct {
		kind   string
		n, d   int
		radius float64
	}{{"uniform", 12_000, 4, 0.1}, {"uniform", 8000, 8, 0.4}, {"clustered", 8000, 6, 2}, {"uniform", 4000, 12, 1.2}} {
		p := pointtest.Open(pointtest.Make(c.kind, c.n, c.d, 1))
		req := &rows.Request{Points: p, Radius: c.radius, Gamma: 1 / (c.radius * c.radius), Memory: 1 << 40, Kernels: simd.At(simd.Best())}
		prepared, err := Prepare(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		seconds, found := prepared.Seconds(), prepared.Found()
		out, err := prepared.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := out.Stats
		want := float64(s.Compared)*compareSeconds + float64(s.Measured)*measureSeconds + float64(s.Found)*storeSeconds
		if s.Balls {
			want += float64(c.n) * float64(s.Tiles) / 2 * nearSeconds
		}
		if seconds < want/1.5 || seconds > want*1.5 {
			t.Errorf("%+v: %g s expected, the search was worth %g s", c, seconds, want)
		}
		if found < float64(s.Found)/1.5 || found > float64(s.Found)*1.5 {
			t.Errorf("%+v: %g pairs expected, %d found", c, found, s.Found)
		}
		none, entry := req.StoredBytes(c.n)
		req.Memory = Bytes(c.n, c.d, 1) + none + int64(found/2)*(rows.EntryBytes+2*entry)
		if prepared, err = Prepare(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if again := prepared.Seconds(); again != seconds {
			t.Errorf("%+v: %g s with half of the memory that the weights take, %g s with all", c, again, seconds)
		}
	}
}
