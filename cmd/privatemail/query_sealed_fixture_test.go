package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/internal/recordtest"
	"github.com/seed-64e14a55/privatemail/internal/rotation"
	"github.com/seed-64e14a55/privatemail/internal/synth"
	"github.com/seed-64e14a55/privatemail/internal/wiretap"
	sealedserver "github.com/seed-64e14a55/privatemail/retrieval/sealed/server"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A sealedService is a service of 120 rows in 6 dimensions that offers mode sealed alone,
// behind a tap.
type sealedService struct {
	*galleryService
	rows    blas64.General
	gallery *sealedserver.Gallery
	// before and instead, if they are set, get each request that asks or fetches before the
	// service does. instead reports whether it has answered.
	before  func(path string)
	instead func(w http.ResponseWriter, r *http.Request) bool
	chart   string // JSON of the map
}

const sealedMap = `{"dim":6,"mean":[0.1,0.2,0.1,0.2,0.1,0.2]}`

func startSealed(t *testing.T, settings sealedserver.Settings) *sealedService {
	t.Helper()
	x, err := synth.Uniform(120, galleryCols, 7)
	if err != nil {
		t.Fatal(err)
	}
	s := &sealedService{galleryService: &galleryService{tap: wiretap.Listen(t)}, rows: wideRows(x, 0, x.Rows), chart: sealedMap}
	if settings.Map != nil {
		s.chart = string(settings.Map)
	}
	if s.Service, err = service.New(service.Settings{Drain: -1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.publish(t, settings)
	h := &httptest.Server{Listener: s.tap, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && s.before != nil {
			s.before(r.URL.Path)
		}
		if r.Method != http.MethodPost || s.instead == nil || !s.instead(w, r) {
			s.Public().ServeHTTP(w, r)
		}
	})}}
	h.Start()
	t.Cleanup(h.Close)
	s.address = h.URL
	return s
}

// publish puts another epoch in the place of the one that is served; its records are
// "record 0" and so on.
func (s *sealedService) publish(t *testing.T, settings sealedserver.Settings) {
	t.Helper()
	settings.Map = []byte(s.chart)
	g, err := sealedserver.New(t.Context(), s.rows, settings)
	if err != nil {
		t.Error(err)
		return
	}
	var lines [][]byte
	for i := range s.rows.Rows {
		lines = append(lines, fmt.Appendf(nil, "record %d", i))
	}
	records, err := sealedserver.NewRecords(t.Context(), g.Epoch(), recordtest.InMemory(lines), sealedserver.RecordsSettings{})
	if err == nil {
		err = s.Publish(service.Offer{Name: "birds", Sealed: g, Records: records})
	}
	if err != nil {
		t.Error(err)
	}
	s.gallery = g
}

func (p place) sealed(address string, more ...string) []string {
	return append([]string{"query", "sealed", address, p.rows, "-cache", p.cache, "-unconfirmed-epoch", "-k", "5"}, more...)
}

// exact returns the squared distances of a query from the bytes of the rows in the cells that
// are nearest to it, without encryption.
func (s *sealedService) exact(z []float64) map[int32]float64 {
	m := s.gallery.Manifest()
	distance := func(c int) float64 {
		sum := 0.0
		for j, v := range m.Centres[c*m.Dimension:][:m.Dimension] {
			sum += (float64(v) - z[j]) * (float64(v) - z[j])
		}
		return sum
	}
	cells := make([]int, m.Cells)
	for c := range cells {
		cells[c] = c
	}
	slices.SortFunc(cells, func(a, b int) int { return cmp.Compare(distance(a), distance(b)) })
	rotated, row := make([]float64, len(z)), make([]float64, len(z))
	rotation.Row(rotated, z)
	out := map[int32]float64{}
	for _, c := range cells[:m.Probes] {
		for _, id := range s.gallery.IDs().IDs[c*m.Length:][:m.Length] {
			if id == wire.Padding {
				continue
			}
			rotation.Row(row, s.rows.Data[int(id)*s.rows.Stride:][:s.rows.Cols])
			sum := 0.0
			for j, v := range row {
				stored := max(-127, min(127, math.RoundToEven(v*m.Scale))) / m.Scale
				sum += (stored - rotated[j]) * (stored - rotated[j])
			}
			out[int32(id)] = sum
		}
	}
	return out
}

// images returns the rows of a place under sealedMap.
func (s *sealedService) images(t *testing.T, p place) [][]float64 {
	t.Helper()
	if err := json.Unmarshal([]byte(s.chart), &s.galleryService.chart); err != nil {
		t.Fatal(err)
	}
	return p.images(t, s.galleryService)
}

// wantExact compares a run with exact ranks: a squared distance is off by the certificate at
// the most, and so only neighbours that are closer than twice that may change places.
func (s *sealedService) wantExact(t *testing.T, p place, stdout string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	var last query.Report
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Mode != query.ModeSealed || last.Privacy != query.NoEpsilon || last.Epoch == "" || last.Spent != 0 || !(last.Bound > 0) {
		t.Errorf("%+v %v", last, err)
	}
	for i, z := range s.images(t, p) {
		var got query.AnswerReport
		if err := json.Unmarshal([]byte(lines[i]), &got); err != nil {
			t.Fatal(err)
		}
		exact := s.exact(z)
		ranked := slices.Sorted(maps.Values(exact))
		bound := last.Bound*math.Sqrt(floats.Dot(z, z)) + 1e-6
		if seen := slices.Compact(slices.Sorted(slices.Values(got.IDs))); len(seen) != 5 {
			t.Errorf("query %d: %v", i, got.IDs)
		}
		for j, id := range got.IDs {
			d, known := exact[id]
			if said := float64(got.Distances[j]) * float64(got.Distances[j]); !known || math.Abs(d-ranked[j]) > 2*bound || math.Abs(said-d) > bound {
				t.Errorf("query %d: row %d at %g, exactly at %g; number %d is at %g", i, id, said, d, j, ranked[j])
			}
		}
	}
}
