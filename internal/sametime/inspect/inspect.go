// Package inspect looks in the source of functions for branches and memory accesses that depend
// on secrets. It is for tests.
package inspect

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
)

// Functions are functions that handle secrets, by the name of their file. Each has the names
// that are secret at its beginning: parameters, and fields of any variable.
type Functions map[string]map[string][]string

// Files returns the problems of functions: conditions, indices, bounds of slices and counts of
// loops that depend on secrets, and missing functions.
func Files(sources fs.FS, functions Functions) (problems []string) {
	for path, names := range functions {
		source, err := fs.ReadFile(sources, path)
		if err != nil {
			return append(problems, err.Error())
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			return append(problems, err.Error())
		}
		found := 0
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || names[f.Name.Name] == nil {
				continue
			}
			found++
			for _, leak := range leaks(f.Body, names[f.Name.Name]) {
				problems = append(problems, fmt.Sprintf("%s: %s: %s", path, f.Name.Name, leak))
			}
		}
		if found != len(names) {
			problems = append(problems, fmt.Sprintf("%s: found %d of %d functions", path, found, len(names)))
		}
	}
	return problems
}

// leaks returns the parts of a body that depend on secrets. A name becomes secret when
// something secret is assigned to it; equal names in different scopes count as one.
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
			// The length of a slice is public; a number to which a loop counts may be a secret.
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
			case token.REM: // a quotient may be floating-point
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

// spoil adds the variable or field to which an expression assigns.
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

// mentionsAny reports whether an expression depends on one of the names. Lengths are public,
// and so is whether a value is nil.
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
