package paper

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// common are the files of both sides: messages, the method and the public set.
var common = []string{"doc.go", "errors.go", "messages.go", "method.go", "public.go"}

// The files of one side use nothing that those of the other declare, files of both use nothing of
// either, and only the client's import mechanism and sensitivity: what a Server learns of a record is in a
// Question.
func TestTheSidesMeetInMessagesOnly(t *testing.T) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	positions := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
		if of(path) == "" && !slices.Contains(common, path) {
			t.Errorf("%s belongs to neither side: call it client..., server..., or list it as common", path)
		}
		for _, i := range file.Imports {
			if of(path) != "client" && (strings.HasSuffix(i.Path.Value, `/mechanism"`) || strings.HasSuffix(i.Path.Value, `/sensitivity"`)) {
				t.Errorf("%s imports %s", path, i.Path.Value)
			}
		}
	}
	// Without an importer other packages are not found; what this one declares is.
	uses := map[*ast.Ident]types.Object{}
	config := types.Config{Error: func(error) {}}
	pkg, _ := config.Check("paper", positions, files, &types.Info{Uses: uses})
	within := map[string]int{}
	for name, object := range uses {
		if object.Pkg() != pkg {
			continue
		}
		at := positions.Position(name.Pos())
		user, owner := of(at.Filename), of(positions.Position(object.Pos()).Filename)
		if user == owner {
			within[user]++
		} else if owner != "" {
			t.Errorf("%v: it uses %s of the %s", at, name.Name, owner)
		}
	}
	if within["client"] < 50 || within["server"] < 50 {
		t.Errorf("only these names were found: %v", within)
	}
}

// of returns the side that a file belongs to, "" for the files of both.
func of(path string) string {
	for _, side := range []string{"client", "server"} {
		if strings.HasPrefix(path, side) {
			return side
		}
	}
	return ""
}
