package client

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// choicesSource is the source that was compiled.
//
//go:embed records_choices.go
var choicesSource []byte

// TestChoicesByMasks reads the source of what works with the choice of a record. It has no
// branch, no division, and no place in memory and no number of rounds that depends on the
// choice or on what was decrypted.
func TestChoicesByMasks(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "records_choices.go", choicesSource, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"newChoices", "inColumn", "add", "padded"}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !slices.Contains(want, f.Name.Name) {
			continue
		}
		want = slices.DeleteFunc(want, func(name string) bool { return name == f.Name.Name })
		secret := secretNames(f)
		ast.Inspect(f, func(n ast.Node) bool {
			if problem := secret.shownBy(n); problem != "" {
				t.Errorf("%v: %s", files.Position(n.Pos()), problem)
			}
			return true
		})
	}
	if len(want) > 0 {
		t.Errorf("no functions %v", want)
	}
}

// names are those of secret values.
type names map[string]bool

// secretNames returns the names of a function that stand for the choice, or for something that
// was computed from it.
func secretNames(f *ast.FuncDecl) names {
	secret := names{"ids": true, "parts": true, "there": true, "word": true, "inColumn": true}
	for known := 0; known < len(secret); {
		known = len(secret)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					secret.mark(to, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			case *ast.RangeStmt:
				secret.mark(n.Value, n.X)
			}
			return true
		})
	}
	return secret
}

// mark adds a name that stands for a value, if that is secret.
func (secret names) mark(to, value ast.Expr) {
	if name, ok := to.(*ast.Ident); ok && name.Name != "_" && secret.in(value) {
		secret[name.Name] = true
	}
}

// in tells whether an expression names something secret, other than for its length.
func (secret names) in(e ast.Expr) (found bool) {
	if e == nil {
		return false
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && f.Name == "len" {
				return false
			}
		case *ast.Ident:
			found = found || secret[n.Name]
		}
		return true
	})
	return found
}

// shownBy says how a node shows something secret by its time.
func (secret names) shownBy(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IfStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.BranchStmt, *ast.ForStmt:
		return "a branch, or a loop that is none over a range"
	case *ast.BinaryExpr:
		if slices.Contains([]token.Token{token.LAND, token.LOR, token.QUO, token.REM}, n.Op) {
			return "an operator whose time depends on its operands"
		}
	case *ast.AssignStmt:
		if n.Tok == token.QUO_ASSIGN || n.Tok == token.REM_ASSIGN {
			return "an operator whose time depends on its operands"
		}
	case *ast.IndexExpr:
		if secret.in(n.Index) {
			return "a secret index"
		}
	case *ast.SliceExpr:
		if secret.in(n.Low) || secret.in(n.High) || secret.in(n.Max) {
			return "a slice with secret ends"
		}
	case *ast.RangeStmt:
		if _, field := n.X.(*ast.SelectorExpr); !field && secret.in(n.X) {
			return "a secret number of rounds"
		}
	}
	return ""
}
