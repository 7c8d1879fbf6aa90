package supervised_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/crc64"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/childtest"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
)

// saved fits a recipe to rows, saves the model and returns both.
func saved(t testing.TB, text string, n, d int) (*supervised.Model, string) {
	t.Helper()
	x, labels := labelledRows(n, d, 33)
	var s *supervised.Settings
	if text != "auto" {
		s = fixed(text)
	}
	m, err := supervised.Fit(t.Context(), newEngine(t), single(x), labels, s)
	if err != nil {
		t.Fatal(err)
	}
	if text != "raw" { // labels of "raw" are numbers
		m.ClassNames = []string{"ant", "bee", "fly, black", "", "\"wasp\"\n"}
		for j := range d {
			m.Map.ColumnNames = append(m.Map.ColumnNames, fmt.Sprint("column ", j))
		}
	}
	path := filepath.Join(t.TempDir(), "model")
	if err := m.Save(t.Context(), path, supervised.About{Features: filepath.Join("some", "where", "x.npy"), Rows: n, ColumnNames: []string{"a", "b"}}); err != nil {
		t.Fatal(err)
	}
	return m, path
}

// A model comes back as it was saved.
func TestSaveAndOpen(t *testing.T) {
	for _, text := range []string{"raw", "scaled", "classic", "deep", "root,unit-rows", "columns=3,unit-images", "whiten,ridge=0.1,steps=2,beta=1.5,neighbours=7", "auto"} {
		want, path := saved(t, text, 80, 6)
		s, err := supervised.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := s.Hash(t.Context(), nil); err != nil || sum != sha256.Sum256(file) {
			t.Errorf("%s: another hash than that of all bytes: %v", text, err)
		}
		got := *s.Model
		if got.Graph != nil { // what it was expected to cost is not saved
			want.Graph.Cost = kernel.Cost{NNZ: want.Graph.Cost.NNZ, ResidentBytes: want.Graph.Cost.ResidentBytes}
		}
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("%s: another model:\n%+v\n%+v", text, got, *want)
		}
		if a := s.About; a.Features != "x.npy" || a.Labels != "" || a.Rows != 80 || len(a.ColumnNames) != 2 {
			t.Errorf("%+v", a)
		}
		m, err := supervised.OpenMap(path)
		if err != nil || !reflect.DeepEqual(m, want.Map) {
			t.Errorf("%s: another map, %v", text, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if !reflect.DeepEqual(s.Model.Map, want.Map) {
			t.Errorf("%s: the map has gone with the file", text)
		}
	}
}

// Models without Z, and with rows that lie apart, come back.
func TestSaveOddModels(t *testing.T) {
	x, labels := labelledRows(40, 3, 34)
	s := fixed("classic")
	s.OnlyX = true
	m, err := supervised.Fit(t.Context(), newEngine(t), single(x), labels, s)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model")
	apart := blas32.General{Rows: 40, Cols: 3, Stride: 5, Data: make([]float32, 40*5)}
	for i := range 40 {
		copy(apart.Data[i*5:], m.X.Data[i*3:][:3])
	}
	want := m.X
	for _, m.X = range []blas32.General{want, apart} {
		if err := m.Save(t.Context(), path, supervised.About{}); err != nil {
			t.Fatal(err)
		}
		back, err := supervised.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back.Model.X, want) || back.Model.Z.Rows != 0 {
			t.Error("other rows")
		}
		back.Close()
	}
}

const modelVariable = "PM_TEST_MODEL" // the file that another process opens

// A model that was saved places rows in another process as it does here, to the bit.
func TestSavedModelInAnotherProcess(t *testing.T) {
	sum := func(m *supervised.Map, rows blas32.General) string {
		z, err := m.Apply(rows)
		if err != nil {
			t.Fatal(err)
		}
		h := crc64.New(crc64.MakeTable(crc64.ECMA))
		for _, v := range z.Data {
			fmt.Fprintf(h, "%b ", v)
		}
		return fmt.Sprintf("images %x", h.Sum64())
	}
	rows, _ := labelledRows(50, 6, 35)
	if path := os.Getenv(modelVariable); path != "" {
		m, err := supervised.OpenMap(path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(sum(m, single(rows)))
		return
	}
	for _, text := range []string{"classic", "deep", "scaled"} {
		m, path := saved(t, text, 80, 6)
		output, err := childtest.Again(t, modelVariable+"="+path)
		if err != nil || !strings.Contains(output, sum(m.Map, single(rows))) {
			t.Errorf("%s: want %s, %v:\n%s", text, sum(m.Map, single(rows)), err, output)
		}
	}
}

func TestSaveRefuses(t *testing.T) {
	m, path := saved(t, "classic", 40, 3)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*supervised.Model){
		"no map":      func(m *supervised.Model) { m.Map = nil },
		"no rows":     func(m *supervised.Model) { m.X = blas32.General{} },
		"columns":     func(m *supervised.Model) { m.X.Cols = 2 },
		"Z":           func(m *supervised.Model) { m.Z.Rows = 2 },
		"wrong X":     func(m *supervised.Model) { m.X.Data = m.X.Data[:5] },
		"wrong Z":     func(m *supervised.Model) { m.Z.Data = m.Z.Data[:5] },
		"map":         func(m *supervised.Model) { m.Map = &supervised.Map{Dim: 3, A: mat.NewDense(2, 3, nil)} },
		"certificate": func(m *supervised.Model) { g := *m.Graph; g.Certificate.Row = make([]float32, 3); m.Graph = &g },
	} {
		wrong := *m
		change(&wrong)
		if err := wrong.Save(t.Context(), path, supervised.About{}); !errors.Is(err, points.ErrShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	wrong := *m
	wrong.Recipe.Steps = -1
	if err := wrong.Save(t.Context(), path, supervised.About{}); err == nil {
		t.Error("an invalid recipe")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.Save(ended, path, supervised.About{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the old file has changed: %v", err)
	}
}

// openAll opens a file, all of which is read.
func openAll(t testing.TB, path string) error {
	s, err := supervised.Open(t.Context(), path, nil)
	if err != nil {
		return err
	}
	return s.Close()
}

// Whatever happens to one byte of a model, and wherever it is truncated, is an error.
func TestOpenDamaged(t *testing.T) {
	_, path := saved(t, "classic", 12, 2)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, data []byte) {
		t.Helper()
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := openAll(t, path); !errors.Is(err, supervised.ErrFile) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := supervised.OpenMap(path); err != nil && !errors.Is(err, supervised.ErrFile) {
			t.Errorf("%s: the map: %v", what, err)
		}
	}
	for n := range data {
		try(fmt.Sprintf("%d bytes", n), data[:n])
		data[n] ^= 1 << (n % 8)
		try(fmt.Sprintf("byte %d", n), data)
		data[n] ^= 1 << (n % 8)
	}
	if _, err := supervised.Open(t.Context(), filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) || errors.Is(err, supervised.ErrFile) {
		t.Errorf("no file: %v", err)
	}
}

// Files whose checksums are right and whose sections do not fit together.
func TestOpenHostile(t *testing.T) {
	const recipe = `"recipe":"raw"`
	type parts struct {
		about, facts, mapFacts string
		mean, scale, matrix    []float64
		x, z, certificate      []float32
		labels                 []int32
		names                  string
	}
	good := parts{about: `{}`, facts: `{"rows":2,"columns":2,` + recipe + `}`, mapFacts: `{"dim":2,"columns":2}`, x: make([]float32, 4)}
	path := filepath.Join(t.TempDir(), "model")
	write := func(kind string, version int, p parts) {
		t.Helper()
		err := sections.Write(t.Context(), path, kind, version, func(w *sections.Writer) (err error) {
			for name, text := range map[string]string{"about": p.about, "facts": p.facts, "map": p.mapFacts, "class-names": p.names} {
				if text != "" {
					err = errors.Join(err, w.Bytes(name, []byte(text)))
				}
			}
			for name, v := range map[string][]float64{"map-mean": p.mean, "map-scale": p.scale, "map-matrix": p.matrix} {
				if v != nil {
					err = errors.Join(err, sections.WriteNumbers(w, name, v))
				}
			}
			for name, v := range map[string][]float32{"x": p.x, "z": p.z, "certificate": p.certificate} {
				if v != nil {
					err = errors.Join(err, sections.WriteNumbers(w, name, v))
				}
			}
			if p.labels != nil {
				err = errors.Join(err, sections.WriteNumbers(w, "labels", p.labels))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	write("model", 1, good)
	old, err := supervised.Open(t.Context(), path, nil) // as earlier versions have written them
	if err != nil {
		t.Fatal(err)
	}
	if m := old.Model; m.Labels != nil || m.ClassNames != nil || m.Map.ColumnNames != nil || m.Classes() != nil {
		t.Errorf("labels and names from nowhere: %+v", m)
	}
	old.Close()
	known := good
	known.labels, known.names, known.mapFacts = []int32{1, -1}, `["a","b"]`, `{"dim":2,"columns":2,"column_names":["x","y"]}`
	write("model", 1, known)
	if err := openAll(t, path); err != nil {
		t.Fatal(err)
	}
	write("gallery", 1, good)
	if err := openAll(t, path); !errors.Is(err, supervised.ErrFile) || !errors.Is(err, formats.ErrUnsupported) {
		t.Errorf("a gallery: %v", err)
	}
	write("model", 2, good)
	if err := openAll(t, path); !errors.Is(err, supervised.ErrFile) || !errors.Is(err, formats.ErrUnsupported) {
		t.Errorf("version 2: %v", err)
	}
	for name, change := range map[string]func(*parts){
		"no facts":        func(p *parts) { p.facts = "" },
		"no about":        func(p *parts) { p.about = "" },
		"no map":          func(p *parts) { p.mapFacts = "" },
		"no x":            func(p *parts) { p.x = nil },
		"no JSON":         func(p *parts) { p.facts = "{" },
		"about is a list": func(p *parts) { p.about = "[]" },
		"a recipe":        func(p *parts) { p.facts = `{"rows":2,"columns":2,"recipe":"nonsense"}` },
		"no rows":         func(p *parts) { p.facts = `{"columns":2,` + recipe + `}` },
		"negative rows":   func(p *parts) { p.facts = `{"rows":-2,"columns":2,` + recipe + `}` },
		"absurd rows":     func(p *parts) { p.facts = `{"rows":4611686018427387904,"columns":2,` + recipe + `}` },
		"other columns":   func(p *parts) { p.facts = `{"rows":2,"columns":3,` + recipe + `}` },
		"a short x":       func(p *parts) { p.x = make([]float32, 3) },
		"a short z":       func(p *parts) { p.z = make([]float32, 3) },
		"a certificate":   func(p *parts) { p.certificate = make([]float32, 3) },
		"absurd map":      func(p *parts) { p.mapFacts = `{"dim":1000000000000,"columns":1000000000000}` },
		"a size that wraps": func(p *parts) {
			p.mapFacts, p.facts = `{"dim":4611686018427387905,"columns":4}`, `{"rows":1,"columns":4,`+recipe+`}`
			p.matrix = make([]float64, 4)
		},
		"a map of nothing":   func(p *parts) { p.mapFacts = `{"dim":0,"columns":0}` },
		"no matrix":          func(p *parts) { p.mapFacts = `{"dim":3,"columns":2}` },
		"a short matrix":     func(p *parts) { p.matrix = make([]float64, 3) },
		"a short mean":       func(p *parts) { p.mean = make([]float64, 3) },
		"scale and matrix":   func(p *parts) { p.scale, p.matrix = make([]float64, 2), make([]float64, 4) },
		"a matrix too large": func(p *parts) { p.matrix = []float64{1, 1e60, 0, 0} },
		"few labels":         func(p *parts) { p.labels = []int32{1} },
		"many labels":        func(p *parts) { p.labels = make([]int32, 3) },
		"a label of nothing": func(p *parts) { p.labels = []int32{0, -2} },
		"no name":            func(p *parts) { p.labels, p.names = []int32{0, 2}, `["a","b"]` },
		"a name twice":       func(p *parts) { p.labels, p.names = []int32{0, 1}, `["a","a"]` },
		"names are a text":   func(p *parts) { p.labels, p.names = []int32{0, 1}, `"a"` },
		"few columns":        func(p *parts) { p.mapFacts = `{"dim":2,"columns":2,"column_names":["a"]}` },
	} {
		p := good
		change(&p)
		write("model", 1, p)
		if err := openAll(t, path); !errors.Is(err, supervised.ErrFile) || !errors.Is(err, formats.ErrFormat) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// OpenMap reads the map alone, and finds what has become of it.
func TestOpenMapDamaged(t *testing.T) {
	m, path := saved(t, "classic", 12, 2)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := sections.Parse(path, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"map", "map-mean", "map-matrix"} {
		part, err := file.Raw(name) // a view of data
		if err != nil {
			t.Fatal(err)
		}
		for i := range part {
			part[i] ^= 1
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := supervised.OpenMap(path); !errors.Is(err, supervised.ErrFile) {
				t.Errorf("byte %d of %s: %v", i, name, err)
			}
			part[i] ^= 1
		}
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if back, err := supervised.OpenMap(path); err != nil || !reflect.DeepEqual(back, m.Map) {
		t.Errorf("another map, %v", err)
	}
}
