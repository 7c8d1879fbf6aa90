package client

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/sametime/inspect"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
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
	for _, problem := range inspect.Files(sources, inspect.Functions{path: secret}) {
		t.Error(problem)
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || secret[f.Name.Name] == nil {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.QUO || b.Op == token.REM) {
				t.Errorf("%s: a division", f.Name.Name)
			}
			return true
		})
	}
}

// Malformed records, dummies and numbers beyond the records take the memory that records
// take, and no more is done for them: the next fetch does not come later for it.
func TestOpenSameWork(t *testing.T) {
	m := &wire.SealedRecords{Records: 9, Length: 20, PerColumn: 2}
	work := func(word uint32, ids ...uint32) float64 {
		c, words := newChoices(m, ids), make([]uint32, m.MatrixRows()*len(ids))
		for i := range words {
			words[i] = word
		}
		return testing.AllocsPerRun(20, func() { c.records(words, m.Length) })
	}
	want := work(0, 0, 1, 2)
	for name, got := range map[string]float64{
		"impossible": work(math.MaxUint32/2, 0, 1, 2), "dummies": work(0, wire.Padding, wire.Padding, wire.Padding), "beyond": work(0, 9, 10, 11),
	} {
		if got != want {
			t.Errorf("%s: memory is taken %g times, and %g times for records", name, got, want)
		}
	}
}
