package privatemail

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-64e14a55/privatemail"

// allowed is the picture of the packages: what each may import of ours. "."
// is the root package. A package that is not listed may not exist.
var allowed = map[string][]string{
	"internal/par":         {},
	"internal/mem":         {},
	"internal/lock":        {},
	"internal/points":      {"internal/par"},
	"internal/digits":      {},
	"formats":              {},
	"sensitivity":          {},
	"simd":                 {},
	"sparse":               {"simd", "internal/mem", "internal/par", "internal/points"},
	"kernel":               {"sparse", "simd", "internal/par", "internal/mem", "internal/points"},
	"iterate":              {"kernel", "simd", "internal/mem", "internal/par", "internal/points"},
	"mechanism/release":    {},
	"mechanism":            {"sensitivity", "mechanism/release", "internal/lock", "internal/par"},
	"internal/pipeline":    {"kernel", "iterate"},
	"post":                 {"mechanism/release", "kernel", "iterate", "internal/mem", "internal/pipeline"},
	".":                    {"simd", "kernel", "iterate", "sensitivity", "mechanism", "mechanism/release", "post", "internal/par", "internal/mem", "internal/points", "internal/pipeline"},
	"retrieval/wire":       {"mechanism/release"},
	"retrieval":            {"kernel", "retrieval/wire", "internal/points"},
	"retrieval/supervised": {".", "kernel", "iterate", "internal/points"},
	"retrieval/client":     {".", "sensitivity", "retrieval", "retrieval/wire", "mechanism", "mechanism/release", "internal/points"},
	"retrieval/server":     {".", "kernel", "post", "retrieval", "retrieval/wire", "mechanism/release", "internal/par", "internal/points"},
	"retrieval/published":  {"kernel", "iterate", "sensitivity", "retrieval", "internal/par", "internal/points"},
	"evaluate":             {"retrieval", "internal/lock", "internal/par", "internal/points"},
	"evaluate/ablation":    {".", "kernel", "retrieval/supervised", "evaluate", "internal/points"},
	"evaluate/baseline":    {".", "kernel", "iterate", "mechanism", "mechanism/release", "evaluate", "internal/par", "internal/points"},
	"evaluate/modes":       {".", "kernel", "sensitivity", "mechanism", "mechanism/release", "retrieval", "retrieval/client", "retrieval/server", "retrieval/wire", "retrieval/published", "retrieval/supervised", "evaluate", "evaluate/ablation", "evaluate/baseline", "internal/points"},
	"evaluate/report":      {"evaluate"},
	"cmd/pmbench":          {".", "evaluate", "formats", "simd", "kernel", "iterate", "sensitivity", "sparse", "mechanism", "mechanism/release", "internal/mem", "internal/par", "internal/points"},
	"cmd/privatemail":      {".", "simd", "kernel", "iterate", "sensitivity", "mechanism", "mechanism/release", "post", "retrieval", "retrieval/supervised", "evaluate", "evaluate/modes", "evaluate/report", "formats", "internal/points", "internal/digits", "internal/mem"},
}

// heavy must not reach a program that links the engine.
var heavy = []string{"runtime/cgo", "C", "gonum.org/v1/netlib", "gonum.org/v1/plot", "golang.org/x/perf", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/vbauerster/mpb", "testing"}

type listed struct {
	ImportPath    string
	Imports, Deps []string
}

func list(t *testing.T, args ...string) (packages []listed) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...).Output()
	if err != nil {
		var e *exec.ExitError
		if errors.As(err, &e) {
			t.Fatalf("go list: %v\n%s", err, e.Stderr)
		}
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestImportsFollowThePicture(t *testing.T) {
	seen := make(map[string]bool)
	for _, p := range list(t, "./...") {
		name := short(p.ImportPath)
		may, ok := allowed[name]
		if !ok {
			t.Errorf("package %s is not in the picture", name)
			continue
		}
		seen[name] = true
		for _, path := range p.Imports {
			if ours := short(path); ours != "" && !slices.Contains(may, ours) {
				t.Errorf("%s imports %s", name, ours)
			}
			if strings.HasPrefix(path, "golang.org/x/perf/") && name != "cmd/pmbench" {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
	for name := range allowed {
		if !seen[name] {
			t.Errorf("package %s is in the picture and nowhere else", name)
		}
	}
}

// The two sides of a query share only what crosses the wire, and what compares the
// published method cannot make a release.
func TestTheSidesOfAQueryDoNotMeet(t *testing.T) {
	for name, never := range map[string]string{
		"retrieval/client":    "retrieval/server",
		"retrieval/server":    "retrieval/client",
		"retrieval/wire":      "mechanism",
		"retrieval/published": "mechanism",
	} {
		for _, p := range list(t, "./"+name) {
			if slices.Contains(p.Deps, module+"/"+never) {
				t.Errorf("%s reaches %s", name, never)
			}
		}
	}
}

// short returns a path of ours relative to the module, "" for others.
func short(path string) string {
	if path == module {
		return "."
	}
	rest, ok := strings.CutPrefix(path, module+"/")
	if !ok {
		return ""
	}
	return rest
}

func TestTheEngineStaysLight(t *testing.T) {
	for _, p := range list(t, ".") {
		for _, dep := range p.Deps {
			for _, h := range heavy {
				if dep == h || strings.HasPrefix(dep, h+"/") {
					t.Errorf("linking the engine pulls in %s", dep)
				}
			}
		}
	}
}
