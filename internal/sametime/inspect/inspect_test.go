package inspect

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// The inspection finds the leaks that it should find.
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
