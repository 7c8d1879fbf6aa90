package privatemail

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/seed-64e14a55/privatemail"

// heavy lists packages that a program with the engine must not link.
var heavy = []string{"runtime/cgo", "C", "gonum.org/v1/netlib", "golang.org/x/image", module + "/internal/plot", "golang.org/x/perf", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/vbauerster/mpb", "github.com/james-bowman/sparse", "testing", module + "/internal/audit", module + "/internal/childtest", module + "/internal/ledgertest", module + "/internal/recordtest", module + "/kernel/internal/pointtest", module + "/mechanism/budgettest"}

type listed struct {
	ImportPath    string
	Imports, Deps []string
}

func list(t *testing.T, args ...string) (packages []listed) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports,Deps"}, args...)...)
	// Without assembly simd imports less, and without cgo there is no package capi.
	cmd.Env = append(os.Environ(), "GOARCH=amd64", "CGO_ENABLED=1")
	out, err := cmd.Output()
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

// CONTRIBUTING.md lists all packages, each behind those that it imports.
func TestImportsFollowThePicture(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, picture, ok := strings.Cut(string(text), "\nA package imports only packages before it")
	_, picture, ok2 := strings.Cut(picture, "\n\n")
	picture, _, ok3 := strings.Cut(picture, "\n\n-")
	if !ok || !ok2 || !ok3 {
		t.Fatal("no list of packages")
	}
	place := map[string]int{}
	for line := range strings.Lines(picture) {
		if _, packages, ok := strings.Cut(line, ":"); ok {
			line = packages // behind what they are about
		}
		for _, name := range strings.Fields(line) {
			if _, twice := place[name]; twice {
				t.Errorf("%s is listed twice", name)
			}
			place[name] = len(place)
		}
	}
	seen := map[string]bool{}
	for _, p := range list(t, "./...") {
		name := short(p.ImportPath)
		at, ok := place[name]
		if !ok {
			t.Errorf("%s is not in the list", name)
			continue
		}
		seen[name] = true
		for _, path := range p.Imports {
			other := short(path)
			if behind, ok := place[other]; ok && behind > at {
				t.Errorf("%s imports %s, which stands behind it", name, other)
			}
			if strings.HasPrefix(path, "golang.org/x/perf/") && name != "cmd/pmbench/internal/compare" {
				t.Errorf("%s imports %s", name, path)
			}
		}
	}
	for name := range place {
		if !seen[name] {
			t.Errorf("package %s is in the list and nowhere else", name)
		}
	}
}

// The two sides of a query share only the wire format, and the code that evaluates the
// published method cannot make a release.
func TestTheSidesOfAQueryDoNotMeet(t *testing.T) {
	for name, never := range map[string][]string{
		"retrieval/client":            {"retrieval/server"},
		"retrieval/server":            {"retrieval/client"},
		"retrieval/wire":              {"mechanism"},
		"paper":                       {"retrieval/client", "retrieval/server"},
		"internal/evaluate/published": {"mechanism"},
		// A sealed query can neither use a ledger nor remember anything.
		"retrieval/sealed/client": {"mechanism", "retrieval/client", "retrieval/sealed/server"},
	} {
		for _, p := range list(t, "./"+name) {
			for _, other := range never {
				if slices.Contains(p.Deps, module+"/"+other) {
					t.Errorf("%s reaches %s", name, other)
				}
			}
		}
	}
}

// Noise is drawn by what pays for it, and by nothing else.
func TestWhoDrawsNoise(t *testing.T) {
	may := []string{"internal/noise", "mechanism", "internal/evaluate/baseline"}
	for _, p := range list(t, "./...") {
		if slices.Contains(p.Imports, module+"/internal/noise") && !slices.Contains(may, short(p.ImportPath)) {
			t.Errorf("%s imports internal/noise", short(p.ImportPath))
		}
	}
}

// go install ./cmd/... installs only the programs for users, no helper programs.
func TestTwoProgramsAreInstalled(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{if eq .Name \"main\"}}{{.ImportPath}}{{end}}", "./cmd/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Fields(string(out)), []string{module + "/cmd/pmbench", module + "/cmd/privatemail"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
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

// The files and folders that CONTRIBUTING.md names exist.
func TestPlacesOfContributing(t *testing.T) {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "To change something, look here first:")
	table, _, more := strings.Cut(table, "\n## ")
	places := regexp.MustCompile("`([a-z0-9_/.]+)`").FindAllStringSubmatch(table, -1)
	if !ok || !more || len(places) < 15 {
		t.Fatalf("%d places", len(places))
	}
	for _, place := range places {
		if _, err := os.Stat(place[1]); err != nil {
			t.Error(err)
		}
	}
}
