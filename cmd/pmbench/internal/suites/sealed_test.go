package suites

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// The cases of a small gallery: ranking in the clear and through the encryption find the same
// neighbours, nearly all of them with as many probes as there are cells.
func TestSealedSetting(t *testing.T) {
	l := suitesLab(t)
	s, err := NewSealedSetting(t.Context(), l, 600)
	if err != nil {
		t.Fatal(err)
	}
	f := s.figures
	if f.Cells != 12 || f.Length != 63 || f.Probes != 8 || f.HintSeconds <= 0 || f.BuildSeconds < f.HintSeconds || f.BuildWorkers != measure.AllWorkers() {
		t.Errorf("%+v", f)
	}
	for _, c := range []struct{ got, want int64 }{{f.UpBytes, 3 * 8 * 12 * 64}, {f.DownBytes, 4 * 8 * 63}, {f.HintBytes, 4 * 1408 * 63}, {f.ManifestBytes, 2*12*63 + 4*12*64}} {
		if c.got <= c.want || c.got > c.want+250 {
			t.Errorf("%d bytes, want %d and a little more", c.got, c.want)
		}
	}
	overlap := func(sub *measure.Subject, err error) float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if err := sub.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return *sub.Sealed.Overlap
	}
	few, many, all := overlap(s.plainOverlap(t.Context(), 4)), overlap(s.plainOverlap(t.Context(), 8)), overlap(s.plainOverlap(t.Context(), 16))
	if !(few < many && many < all && all > .97) {
		t.Errorf("overlaps %g, %g, %g", few, many, all)
	}
	if _, err := s.StoredRows(t.Context()); err != nil {
		t.Fatal(err)
	}
	encrypted := overlap(s.encryptedOverlap(t.Context()))
	plain := 0.0
	for q := range sealedEncrypted {
		plain += s.overlapOf(q, s.rankPlain(q, 8, s.Gallery.IDs().IDs)) / sealedEncrypted
	}
	if math.Abs(encrypted-plain) > .02 {
		t.Errorf("overlap %g, %g without encryption", encrypted, plain)
	}
}

func TestSealedLines(t *testing.T) {
	all := []record.Summary{
		{Record: &record.Record{Suite: "sealed", Case: "op=read/n=9", Workers: 2, Seconds: .0075, Sealed: &record.SealedFigures{}}},
		{Record: &record.Record{Suite: "sealed", Case: "op=one/n=9", Workers: 2, Seconds: .01, Sealed: &record.SealedFigures{Queries: 1}}},
		{Record: &record.Record{Suite: "sealed", Case: "op=waiting=16/n=9", Workers: 1, Seconds: .1, Sealed: &record.SealedFigures{Queries: 16}}},
		{Record: &record.Record{Suite: "sealed", Case: "op=bytes/n=9", Workers: 1, Seconds: .1, Sealed: &record.SealedFigures{Queries: 1, UpBytes: 7, DownBytes: 8, HintBytes: 9, ManifestBytes: 10, HintSeconds: 2, BuildSeconds: 5, BuildWorkers: 2}}},
		{Record: &record.Record{Suite: "sealed", Case: "op=overlap/probes=4/n=9", Workers: 1, Seconds: .1, Sealed: &record.SealedFigures{Queries: 1000, Probes: 4, Cells: 12, Overlap: figures.Finite(.9125)}}},
		{Record: &record.Record{Suite: "sealed", Case: "op=client/n=9", Workers: 1, Seconds: .1, Sealed: &record.SealedFigures{Queries: 1}}},
		{Record: &record.Record{Suite: "spmm", Case: "k=8/"}},
	}
	want := []string{
		"op=one/n=9: 50 queries a second and core",
		"op=one/n=9: reading as many bytes takes 0.75 of its time, in the same rounds",
		"op=waiting=16/n=9: 160 queries a second and core",
		"op=bytes/n=9: 7 bytes up and 8 down a query; once a hint of 9 bytes, and 10 of norms and centres",
		"op=bytes/n=9: laid out in 5 s with 2 workers, of which the hint took 2 s",
		"op=overlap/probes=4/n=9: 4 probes of 12 cells find 0.9125 of the 8 nearest rows, 1000 queries",
	}
	if got := SealedLines(all); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestSealedRefuses(t *testing.T) {
	if err := checkSealedMemory(10_000_000, 23<<30); err != nil {
		t.Error(err)
	}
	if err := checkSealedMemory(100_000_000, 23<<30); err == nil || !strings.Contains(err.Error(), "-n") {
		t.Errorf("%v", err)
	}
}
