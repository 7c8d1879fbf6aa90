package client

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// sources are the files as they were compiled, also where the tests are built over other ones.
//
//go:embed *.go
var sources embed.FS

// The functions that handle secrets, with the names in them that are secret at the beginning:
// parameters, and fields of whatever they are in.
var inspected = map[string]map[string][]string{
	"mask.go":    {"less": {"a", "b"}, "equal": {"a", "b"}, "choose": {"mask", "a", "b"}, "order": {"x"}, "unorder": {"key"}, "larger": {"a", "b"}, "nearestWhole": {"x"}, "dropSmall": {"x"}},
	"sampler.go": {"addErrors": {"words", "stream"}, "sampleError": {"word"}},
	"ask.go": {
		"newQueryRow": {"row", "words", "cells", "length", "valid"}, "keepFinite": {"row"}, "normalize": {"row"},
		"chooseLeast": {"cells", "keys"}, "add": {"words", "cells"},
	},
	"ciphertexts.go": {"write": {"words"}, "rounded": {"w"}, "decrypt": {"secrets", "answer"}},
	"rank.go":        {"rank": {"row", "cells", "scores", "length"}, "pick": {"cells"}, "matches": {"sorted"}},
	"sort.go":        {"sortSlots": {"s"}, "exchange": {"a", "b"}},
}

// Where there are secrets no branch and no place in memory depends on them: no condition, no
// index, no bound of a slice and no count of a loop. In particular no index depends on the cell
// of a probe.
func TestNoIndexOrBranchDependsOnSecrets(t *testing.T) {
	for path, functions := range inspected {
		source, err := sources.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || functions[f.Name.Name] == nil {
				continue
			}
			found++
			for _, leak := range leaks(f.Body, functions[f.Name.Name]) {
				t.Errorf("%s: %s: %s", path, f.Name.Name, leak)
			}
		}
		if found != len(functions) {
			t.Errorf("%s: %d of %d functions are there", path, found, len(functions))
		}
	}
}

// Rank decrypts and sorts before it looks whether the row was a query: the same work is done for
// each.
func TestDecryptsFirst(t *testing.T) {
	source, err := sources.ReadFile("rank.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "rank.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != "Rank" {
			continue
		}
		var order []string
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if name, ok := n.(*ast.Ident); ok && slices.Contains([]string{"checkAnswer", "decrypt", "sortSlots", "matches", "valid"}, name.Name) {
				order = append(order, name.Name)
			}
			return true
		})
		if want := []string{"checkAnswer", "decrypt", "sortSlots", "matches", "valid"}; !slices.Equal(order, want) {
			t.Errorf("the order is %q, want %q", order, want)
		}
		return
	}
	t.Error("there is no Rank")
}

// The inspection finds what it must.
func TestInspection(t *testing.T) {
	for source, want := range map[string]int{
		"x := public[secret]":                                     1,
		"cell := s.secret[0]; words[cell*d] += 1":                 1,
		"if secret > 0 { x++ }":                                   1,
		"for i := range secret { x += secret[i] }":                0,
		"for range secret[0] { x++ }":                             1,
		"for i := 0; i < int(secret[0]); i++ { x++ }":             1,
		"a, b := secret[1], len(secret); x[b] = a":                0,
		"a, b := secret[1], len(secret); x[a] = b":                1,
		"x = max(secret[0], 1)":                                   1,
		"x = y[:secret[0]]":                                       1,
		"x = secret[0] % 3":                                       1,
		"switch { case secret[0] == 1: x++ }":                     1,
		"switch secret[0] { case 1: x++ }":                        1,
		"x = secret[0] == 1 && y":                                 1,
		"for _, v := range secret { sum += v }; z[sum] = 1":       1,
		"p := &secret[0]; x[*p] = 1":                              1,
		"var v = f(secret[0]); x[v] = 1":                          1,
		"func() { y := secret[0]; x[y] = 1 }()":                   1,
		"for i := range len(secret) { if i == 3 { x = secret } }": 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {"+source+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := leaks(file.Decls[0].(*ast.FuncDecl).Body, []string{"secret"}); len(got) != want {
			t.Errorf("%s: found %q, want %d", source, got, want)
		}
	}
}

// leaks returns what depends on secrets in a body. A name becomes secret when something secret is
// assigned to it; names are not told apart by their scope.
func leaks(body ast.Node, names []string) (found []string) {
	secret := slices.Clone(names)
	mentions := func(n ast.Node) bool { return mentionsAny(n, secret) }
	for known := -1; known != len(secret); {
		known = len(secret)
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					from := n.Rhs[0]
					if len(n.Rhs) == len(n.Lhs) {
						from = n.Rhs[i]
					}
					if mentions(from) {
						secret = spoil(secret, to)
					}
				}
			case *ast.ValueSpec:
				for _, v := range n.Values {
					if mentions(v) {
						for _, name := range n.Names {
							secret = spoil(secret, name)
						}
					}
				}
			case *ast.RangeStmt:
				if n.Value != nil && mentions(n.X) {
					secret = spoil(secret, n.Value)
				}
			}
			return true
		})
	}
	check := func(what string, n ast.Node) {
		if n != nil && mentions(n) {
			found = append(found, what+" depends on a secret")
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IfStmt:
			check("a branch", n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				check("a loop", n.Cond)
			}
		case *ast.RangeStmt:
			// The length of a slice is public; a number that is counted to may be a secret.
			if index, ok := n.X.(*ast.IndexExpr); ok {
				check("a loop", index)
			}
		case *ast.SwitchStmt:
			if n.Tag != nil {
				check("a switch", n.Tag)
			}
		case *ast.CaseClause:
			for _, c := range n.List {
				check("a case", c)
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LAND, token.LOR:
				check("a condition", n)
			case token.REM: // a quotient may be one of floating point
				check("a remainder", n)
			}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "min" || f.Name == "max") { // which may branch
				check("the larger or smaller", n)
			}
		case *ast.IndexExpr:
			check("an index", n.Index)
		case *ast.SliceExpr:
			for _, bound := range []ast.Expr{n.Low, n.High, n.Max} {
				if bound != nil {
					check("a bound", bound)
				}
			}
		}
		return true
	})
	return found
}

// spoil adds the variable or field that an expression assigns to.
func spoil(secret []string, to ast.Expr) []string {
	switch to := to.(type) {
	case *ast.IndexExpr:
		return spoil(secret, to.X)
	case *ast.StarExpr:
		return spoil(secret, to.X)
	case *ast.SelectorExpr:
		return spoil(secret, to.Sel)
	case *ast.Ident:
		if to.Name != "_" && !slices.Contains(secret, to.Name) {
			return append(secret, to.Name)
		}
	}
	return secret
}

// mentionsAny tells whether an expression depends on one of the names. Lengths are public, and so
// is whether something is there at all.
func mentionsAny(n ast.Node, names []string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "len" || f.Name == "make" || f.Name == "cap") {
				return false
			}
		case *ast.Ident:
			found = found || slices.Contains(names, n.Name)
		}
		return true
	})
	return found
}
