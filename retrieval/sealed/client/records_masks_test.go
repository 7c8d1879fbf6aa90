package client

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// What works with the choice of a record has no branch and no place in memory that depends on it,
// or on what was decrypted, and it never divides: a division takes a time that depends on
// its operands.
func TestChoicesByMasks(t *testing.T) {
	const path = "records_choices.go"
	secret := map[string][]string{
		"newChoices": {"ids", "parts", "there"}, "inColumn": {"ids", "there"}, "add": {"ids", "there", "words"}, "padded": {"parts", "words"},
	}
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
		if !ok || secret[f.Name.Name] == nil {
			continue
		}
		found++
		for _, leak := range leaks(f.Body, secret[f.Name.Name]) {
			t.Errorf("%s: %s", f.Name.Name, leak)
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.QUO || b.Op == token.REM) {
				t.Errorf("%s: a division", f.Name.Name)
			}
			return true
		})
	}
	if found != len(secret) {
		t.Errorf("%d of %d functions are there", found, len(secret))
	}
}
