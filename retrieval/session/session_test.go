package session

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/sealed"
	sealedclient "github.com/seed-64e14a55/privatemail/retrieval/sealed/client"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// All records that are fetched are in memory before the first one is written, and they are as long
// as the server says.
func TestFetchMemory(t *testing.T) {
	s := &Session{settings: Settings{K: 100}}
	s.x.Rows = 1000
	m := &wire.SealedRecords{Records: 1000, Length: sealed.MaxRecord, PerColumn: 1}
	if got, least := s.fetchMemory(m), 1000.*100*sealed.MaxRecord; got < least || got > least+(1<<24) {
		t.Errorf("%g bytes, want %g and some", got, least)
	}
}

// A version that has a change in a cell has a copy of that cell.
func TestVersionMemory(t *testing.T) {
	m := &wire.SealedManifest{Cells: 10, Length: 1 << 20, Dimension: 1, Probes: 1}
	few, many := &wire.SealedChanges{Names: []uint32{1}}, &wire.SealedChanges{Names: make([]uint32, 1000), Words: make([]uint32, 500)}
	if got, least := versionMemory(m, few), 6.*(1<<20)+versionPlaces(m); got != least {
		t.Errorf("one change: %g bytes, want %g", got, least)
	}
	if got, least := versionMemory(m, many), 60.*(1<<20)+2000+versionPlaces(m); got != least {
		t.Errorf("many changes: %g bytes, want %g", got, least)
	}
}

// Subnormal numbers of rows are 0 before the server is asked for anything. What the file has stays.
func TestNormalRows(t *testing.T) {
	x := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, math.SmallestNonzeroFloat32, -0x1p-126}}
	given := slices.Clone(x.Data)
	if got := normalRows(x); !slices.Equal(got.Data, []float32{1, 0, -0x1p-126}) || !slices.Equal(x.Data, given) {
		t.Errorf("%v, and the rows are %v", got.Data, x.Data)
	}
}

// Between two requests no distance becomes a subnormal number: by the time that takes a server
// whose rows lie 1e-40 from a record could find out that it is there.
func TestKeepNoSubnormalDistances(t *testing.T) {
	s := &Result{K: 6}
	s.keep([]client.Match{{ID: 3}, {ID: 1, Distance: 1e-40}, {ID: 2, Distance: math.Nextafter(0x1p-126, 0)}, {ID: 4, Distance: 0x1p-126}, {ID: 5, Distance: 1e300}}, Query{})
	if want := []float32{0, 0, 0, 0x1p-126, float32(math.Inf(1)), float32(math.Inf(1))}; !slices.Equal(s.Distances, want) || !slices.Equal(s.IDs, []int32{3, 1, 2, 4, 5, -1}) {
		t.Errorf("%v at %v, want %v", s.IDs, s.Distances, want)
	}
}

// The memory of a run is that of its longest part, also for a manifest that somebody made to
// take much: many probes, or long cells.
func TestSealedMemory(t *testing.T) {
	for name, m := range map[string]*wire.SealedManifest{
		"usual":       {Cells: 500, Length: 2500, Dimension: 64, Probes: 8},
		"many probes": {Cells: 4096, Length: 100_000, Dimension: 1, Probes: 4096},
		"long cells":  {Cells: 1408, Length: 300_000, Dimension: 1, Probes: 1408},
		"many words":  {Cells: 1 << 16, Length: 1, Dimension: 1 << 10, Probes: 10},
	} {
		got, batch := bytesOf(sealedMemory(m)), int64(sealedBatch(m))
		ranked := 4*int64(m.Probes)*int64(m.Length)*(1+1+1+4) + batch*m.AnswerBytes()
		if sent := 3 * batch * m.RequestBytes(); got < ranked || got < sent || batch < 1 || batch > 1 && batch*max(m.RequestBytes(), m.AnswerBytes()) > 64<<20 {
			t.Errorf("%s: %d bytes for batches of %d, want %d and %d", name, got, batch, ranked, sent)
		}
	}
}

// As many matches are kept of an answer as there may be, however many rows it has: their number is
// private, and the next request follows.
func TestMatchesBehindTheEnd(t *testing.T) {
	nearest := []sealedclient.Match{{Name: 1, ID: 7, Distance: 2}, {Name: 2, ID: 9, Distance: 3}}
	for i := range 6 {
		nearest = append(nearest, sealedclient.Match{Name: uint32(i), ID: wire.Padding, Distance: math.Inf(1)})
	}
	nearest = nearest[:6:6]
	for rows := range 3 {
		matches := matchesOf(nearest[:rows])
		if len(matches) != len(nearest) {
			t.Errorf("%d rows: %d matches", rows, len(matches))
		}
	}
	s := &Result{K: 8}
	s.keep(matchesOf(nearest[:2]), Query{})
	if want := []int32{7, 9, -1, -1, -1, -1, -1, -1}; !slices.Equal(s.IDs, want) || s.Found(0) != 2 || !math.IsInf(float64(s.Distances[2]), 1) {
		t.Errorf("%v at %v, want %v", s.IDs, s.Distances, want)
	}
}
