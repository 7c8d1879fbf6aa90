package privatemail

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A place is the number of a row, column or the like in a message; it counts from 1.
var place = regexp.MustCompile(`\b(row|column|entry|point|query|answer|neighbour|pixel|section) %d`)

// notPlaces are texts that look as if they named a place and are not messages: names
// of records, and results, whose numbers are those of the files of row numbers.
var notPlaces = []string{
	"query %d",               // the name of a record, in package evaluate
	"query %d\trow\t",        // the table of search and query
	"query %d, row %d: %s\n", // the records that query has fetched
	", row %d",               // the protection of a spend, in the words of the ledger
}

// Places in messages count from 1: their expression in the arguments of a message ends
// in + 1.
func TestMessagesCountFromOne(t *testing.T) {
	found := 0
	err := filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{"testdata", ".git", "_gen", "python"}, entry.Name()) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for at, argument := range call.Args {
				literal, ok := argument.(*ast.BasicLit)
				if !ok || literal.Kind != token.STRING {
					continue
				}
				text, err := strconv.Unquote(literal.Value)
				if err != nil || slices.Contains(notPlaces, text) {
					continue
				}
				if strings.Contains(text, "counted from 0") {
					t.Errorf("%s: %q: places in messages count from 1", set.Position(call.Pos()), text)
				}
				for _, match := range place.FindAllStringIndex(text, -1) {
					found++
					which := at + 1 + verbsIn(text[:match[1]-len("%d")])
					if which >= len(call.Args) || !oneMore(call.Args[which]) {
						t.Errorf("%s: %q: the place in %q counts from 1: its argument should end in + 1", set.Position(call.Pos()), text, text[match[0]:match[1]])
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 50 {
		t.Errorf("only %d places", found)
	}
}

// verbsIn counts the verbs of a format.
func verbsIn(format string) int {
	return strings.Count(strings.ReplaceAll(format, "%%", ""), "%")
}

// oneMore reports whether an expression ends in + 1.
func oneMore(e ast.Expr) bool {
	sum, ok := e.(*ast.BinaryExpr)
	if !ok || sum.Op != token.ADD {
		return false
	}
	one, ok := sum.Y.(*ast.BasicLit)
	return ok && one.Value == "1"
}
