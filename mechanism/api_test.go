package mechanism

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source files of a package as this test was built, tags included.
type sources struct {
	ImportPath, Dir string
	GoFiles         []string
}

// production returns the package and what it links of this module.
func production(t *testing.T) (packages []sources) {
	t.Helper()
	args := []string{"list", "-deps", "-json=ImportPath,Dir,GoFiles"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				args = append(args, "-tags="+s.Value)
			}
		}
	}
	out, err := exec.Command("go", append(args, ".")...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(strings.NewReader(string(out))); d.More(); {
		var p sources
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, "github.com/seed-64e14a55/privatemail/") {
			packages = append(packages, p)
		}
	}
	if len(packages) < 4 {
		t.Fatalf("only %d packages", len(packages))
	}
	return packages
}

func parse(t *testing.T, p sources) (files []*ast.File) {
	t.Helper()
	replaced := overlay(t)
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		file, err := parser.ParseFile(token.NewFileSet(), cmp.Or(replaced[path], path), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	return files
}

// overlay returns the files that the go command reads in place of others, as in
// .ci/mutants.
func overlay(t *testing.T) map[string]string {
	t.Helper()
	var list struct{ Replace map[string]string }
	for _, flag := range strings.Fields(os.Getenv("GOFLAGS")) {
		if name, ok := strings.CutPrefix(flag, "-overlay="); ok {
			text, err := os.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(text, &list)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return list.Replace
}

// T-13: production code has one generator, ChaCha8, and no normal numbers
// except its own.
func TestOneGenerator(t *testing.T) {
	found := false
	for _, p := range production(t) {
		for _, file := range parse(t, p) {
			complaint := generators(file)
			if complaint == usesReader && strings.HasSuffix(p.ImportPath, "/internal/entropy") {
				complaint = "" // it refuses other readers
			}
			if complaint != "" {
				t.Errorf("%s: %s", p.ImportPath, complaint)
			}
			found = found || slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"math/rand/v2"` })
		}
	}
	if !found {
		t.Error("ChaCha8 was not found; the test looks in the wrong place")
	}
}

const usesReader = "uses the variable Reader of crypto/rand"

// generators returns a forbidden use of random numbers in a file.
func generators(file *ast.File) (complaint string) {
	local, secret := "", ""
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		name := "rand"
		if i.Name != nil {
			name = i.Name.Name
		}
		switch path {
		case "math/rand":
			return "imports math/rand"
		case "math/rand/v2":
			local = name
		case "crypto/rand":
			secret = name
		}
	}
	if local == "." || secret == "." {
		return "imports a package rand into its own scope"
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if n.Name == "NormFloat64" {
				complaint = "uses NormFloat64"
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && local != "" && x.Name == local && n.Sel.Name != "ChaCha8" && n.Sel.Name != "NewChaCha8" {
				complaint = "uses " + n.Sel.Name + " of math/rand/v2"
			}
			if x, ok := n.X.(*ast.Ident); ok && secret != "" && x.Name == secret && n.Sel.Name == "Reader" {
				complaint = usesReader
			}
		}
		return complaint == ""
	})
	return complaint
}

// T-13: no caller can choose the randomness. No exported function, method,
// field or variable has a seed, a generator or a reader in it.
func TestNoSeedsInTheAPI(t *testing.T) {
	count := 0
	for _, p := range production(t) {
		if !strings.HasSuffix(p.ImportPath, "/mechanism") {
			continue
		}
		for _, file := range parse(t, p) {
			for name, node := range exported(file) {
				count++
				if complaint := chooses(node); complaint != "" {
					t.Errorf("%s has %s", name, complaint)
				}
			}
		}
	}
	if count < 30 {
		t.Errorf("only %d exported names were found", count)
	}
}

// exported returns the exported declarations of a file, functions without
// their bodies and structs with their exported fields only.
func exported(file *ast.File) map[string]ast.Node {
	all := make(map[string]ast.Node)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				all[d.Name.Name+"()"+receiver(d)] = d.Type
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() {
							all[n.Name] = &ast.ValueSpec{Names: []*ast.Ident{n}, Type: s.Type}
						}
					}
				case *ast.TypeSpec:
					if !s.Name.IsExported() {
						continue
					}
					all[s.Name.Name] = s.Type
					if t, ok := s.Type.(*ast.StructType); ok {
						open := &ast.FieldList{}
						for _, f := range t.Fields.List {
							if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
								open.List = append(open.List, f)
							}
						}
						all[s.Name.Name] = &ast.StructType{Fields: open}
					}
				}
			}
		}
	}
	return all
}

func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name := " of a type"
	ast.Inspect(d.Recv, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			name = " of " + id.Name
		}
		return true
	})
	return name
}

var suspicious = regexp.MustCompile(`(?i)seed|entropy|random|generator`)

// chooses returns the part of a declaration that could choose randomness.
func chooses(node ast.Node) (complaint string) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			// ErrEntropy and the label mode are names for callers, not choices.
			if suspicious.MatchString(n.Name) && n.Name != "ErrEntropy" || n.Name == "source" {
				complaint = n.Name
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && (x.Name == "io" || x.Name == "rand" || x.Name == "chacha" || x.Name == "noise") {
				complaint = x.Name + "." + n.Sel.Name
			}
		case *ast.ArrayType:
			if length, ok := n.Len.(*ast.BasicLit); ok && length.Value == "32" {
				complaint = "an array of 32"
			}
		case *ast.FuncType:
			if n != node && n.Params.NumFields() == 0 {
				complaint = "a callback that could make numbers"
			}
		}
		return complaint == ""
	})
	return complaint
}

// The searches above find what they look for.
func TestSearches(t *testing.T) {
	for _, test := range []struct {
		code string
		bad  bool
	}{
		{`import "math/rand"`, true},
		{`import "math/rand/v2"; var x = rand.NewChaCha8`, false},
		{`import "math/rand/v2"; var x = rand.NewPCG(1, 2)`, true},
		{`import r "math/rand/v2"; var x = r.Uint64()`, true},
		{`import . "math/rand/v2"`, true},
		{`import "crypto/rand"; func f(p []byte) { rand.Read(p) }`, false},
		{`import "crypto/rand"; var x = rand.Reader`, true},
		{`import c "crypto/rand"; var x = c.Reader`, true},
		{`import . "crypto/rand"`, true},
		{`type T struct{}; func (t T) f() { t.g().NormFloat64() }`, true},
		{`func F(seed int) {}`, true},
		{`func F(key [32]byte) {}`, true},
		{`import "io"; func F(r io.Reader) {}`, true},
		{`import "io"; type T struct { R io.Reader }`, true},
		{`import "io"; type T struct { r io.Reader }`, false},
		{`type T struct { Word func() uint64 }`, true},
		{`var Source = source(nil)`, false},
		{`var Noise source`, true},
		{`import "x/noise"; func F(s noise.Source) {}`, true},
		{`import "x/noise"; type T struct { S noise.Sampler }`, true},
		{`import "x/noise"; type T struct { s noise.Sampler }`, false},
		{`type T struct{}; func (T) Seed(x uint64) {}`, false},
		{`func F(x float64) (y int, err error) { var seed [32]byte; _ = seed }`, false},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+test.code, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		complaint := generators(file)
		for _, node := range exported(file) {
			complaint += chooses(node)
		}
		if (complaint != "") != test.bad {
			t.Errorf("%s: %q", test.code, complaint)
		}
	}
}
