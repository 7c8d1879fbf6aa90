package client

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// TestChoicesByMasks reads the source of what works with the choice of a record. It has no
// branch, no division, and no place in memory and no number of rounds that depends on the
// choice or on what was decrypted.
func TestChoicesByMasks(t *testing.T) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "records_choices.go", nil, parser.SkipObjectResolution)
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
		ast.Inspect(f, func(n ast.Node) bool {
			if problem := dependsOnChoice(n); problem != "" {
				t.Errorf("%v: %s", files.Position(n.Pos()), problem)
			}
			return true
		})
	}
	if len(want) > 0 {
		t.Errorf("no functions %v", want)
	}
}

// dependsOnChoice says what is wrong with a node.
func dependsOnChoice(n ast.Node) string {
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
		if namesChoice(n.Index) {
			return "an index that depends on the choice"
		}
	case *ast.SliceExpr:
		if namesChoice(n.Low) || namesChoice(n.High) || namesChoice(n.Max) {
			return "a slice that depends on the choice"
		}
	case *ast.RangeStmt:
		if _, whole := n.X.(*ast.SelectorExpr); !whole && namesChoice(n.X) {
			return "a number of rounds that depends on the choice"
		}
	}
	return ""
}

// namesChoice tells whether an expression names something secret.
func namesChoice(e ast.Expr) (found bool) {
	if e == nil {
		return false
	}
	secret := []string{"id", "ids", "part", "parts", "there", "mask", "from", "word", "inColumn", "less", "equal"}
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && slices.Contains(secret, name.Name) {
			found = true
		}
		return true
	})
	return found
}
