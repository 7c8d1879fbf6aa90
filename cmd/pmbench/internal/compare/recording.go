package compare

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
)

// recording holds the values of a benchmark file: by case, by unit.
type recording struct {
	path   string
	origin origin
	order  []string
	cases  map[string]map[string][]float64
}

// readBenchmarks reads a file in the Go benchmark format. Units are those of
// package benchfmt: ns/op is read as sec/op, MB/s as B/s.
func readBenchmarks(path string) (*recording, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file", path)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &recording{path: path, cases: map[string]map[string][]float64{}}
	return out, out.read(f)
}

func (rec *recording) read(r io.Reader) error {
	rec.origin = origin{}
	reader := benchfmt.NewReader(r, rec.path)
	for reader.Scan() {
		switch r := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			return r
		case *benchfmt.Result:
			rec.origin.note(r)
			name := r.Name.String()
			if rec.cases[name] == nil {
				rec.order = append(rec.order, name)
				rec.cases[name] = map[string][]float64{}
			}
			for _, v := range r.Values {
				rec.cases[name][v.Unit] = append(rec.cases[name][v.Unit], v.Value)
			}
		}
	}
	if err := reader.Err(); err != nil {
		return err
	}
	if len(rec.order) == 0 {
		return fmt.Errorf("%s: no benchmark lines; run -out and go test -bench write them", rec.path)
	}
	return nil
}

// onlyHere returns the cases that the other recording does not have, and of those
// that it has the metrics it lacks. Processor time stands in for another metric.
func (rec *recording) onlyHere(other *recording, metrics []string) (names []string) {
	for _, name := range rec.order {
		if other.cases[name] == nil {
			names = append(names, name)
			continue
		}
		for _, unit := range metrics {
			if unit != record.CPUYardsUnit && rec.cases[name][unit] != nil && other.cases[name][unit] == nil {
				names = append(names, name+" "+unit)
			}
		}
	}
	return names
}

// withoutCores drops the number of cores from the names of cases, so that those of
// different machines meet.
func (rec *recording) withoutCores() *recording {
	out := &recording{path: rec.path, origin: rec.origin, cases: map[string]map[string][]float64{}}
	for _, name := range rec.order {
		short := coresSuffix.ReplaceAllString(name, "")
		if out.cases[short] == nil {
			out.order = append(out.order, short)
			out.cases[short] = map[string][]float64{}
		}
		for unit, values := range rec.cases[name] {
			out.cases[short][unit] = append(out.cases[short][unit], values...)
		}
	}
	return out
}
