package client

import (
	"embed"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
)

// sources are the files as they were compiled, also where the tests are built over other ones.
//
//go:embed *.go
var sources embed.FS

// The functions that handle secrets, with the names in them that are secret at the beginning:
// parameters, and fields of whatever they are in.
var inspected = inspect.Functions{
	"sampler.go": {"addErrors": {"words", "stream"}, "sampleError": {"word"}},
	"ask.go": {
		"newQueryRow": {"row", "words", "cells", "length", "valid"}, "keepFinite": {"row"}, "normalize": {"row"},
		"chooseLeast": {"cells", "keys"}, "add": {"words", "cells"},
	},
	"ciphertexts.go": {"write": {"words"}, "rounded": {"w"}, "decrypt": {"secrets", "answer"}},
	"rank.go":        {"rank": {"row", "cells", "scores", "length"}, "pick": {"cells"}, "matches": {"sorted"}},
}

// Where there are secrets no branch and no place in memory depends on them. In particular no
// index depends on the cell of a probe.
func TestNoIndexOrBranchDependsOnSecrets(t *testing.T) {
	for _, problem := range inspect.Files(sources, inspected) {
		t.Error(problem)
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
			if name, ok := n.(*ast.Ident); ok && slices.Contains([]string{"checkAnswer", "decrypt", "Sort", "matches", "valid"}, name.Name) {
				order = append(order, name.Name)
			}
			return true
		})
		if want := []string{"checkAnswer", "decrypt", "Sort", "matches", "valid"}; !slices.Equal(order, want) {
			t.Errorf("the order is %q, want %q", order, want)
		}
		return
	}
	t.Error("there is no Rank")
}
