package privatemail

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// There is one kind of workers, those of package par, and few files start them: all
// others use lent workers. A file that is missing here starts uncounted goroutines.
func TestWhoStartsGoroutines(t *testing.T) {
	want := []string{
		"capi/call.go",                               // takes work off a thread of C
		"cluster/local.go",                           // runs ranks as goroutines
		"cluster/owner_mpi.go",                       // owns the thread that calls MPI
		"cmd/pmbench/internal/load/target.go",        // has clients that come at the same time
		"cmd/pmbench/internal/measure/lab.go",        // a benchmark owns workers of each number that it measures
		"cmd/pmbench/internal/measure/limits.go",     // and so does the measurement of the machine
		"cmd/pmbench/internal/suites/concurrent.go",  // has callers that come at the same time
		"cmd/pmbench/internal/suites/retrieval.go",   // owns the servers that it measures
		"cmd/privatemail/internal/progress/await.go", // waits for a file that may never come
		"cmd/privatemail/internal/serve/run.go",      // answers while it loads
		"cmd/privatemail/internal/split/split.go",    // owns the workers that encode answers of shards
		"internal/evaluate/sweep.go",                 // owns the workers of a sweep
		"internal/front/survey.go",                   // asks all shards at the same time
		"lend.go",                                    // owns the workers of an Engine
		"mechanism/budgettest/promises.go",           // has callers that come at the same time
		"par/par.go",
		"retrieval/client/folder.go",          // reads files, which wait for the disk together
		"retrieval/host/gallery.go",           // owns the workers that cut a gallery into cells
		"retrieval/host/host.go",              // owns the workers that answer in mode sealed
		"retrieval/host/sealed.go",            // owns the workers that lay rows out for mode sealed
		"retrieval/internal/passes/passes.go", // runs passes that several requests wait for
		"retrieval/sealed/client/ask.go",      // owns the workers of a call
		"retrieval/sealed/client/rank.go",     // owns the workers of a call
		"retrieval/sealed/client/records.go",  // owns the workers of a call
		"retrieval/service/run.go",            // listens in two places
		"retrieval/supervised/stream.go",      // reads and writes rows while others are placed
	}
	var got []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err == nil && startsGoroutines(file) {
			got = append(got, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("goroutines start in %q, want %q", got, want)
	}
}

// startsGoroutines finds the statement go, the method Go of a sync.WaitGroup and par.New.
func startsGoroutines(file *ast.File) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok {
				from, _ := f.X.(*ast.Ident)
				found = found || f.Sel.Name == "Go" || f.Sel.Name == "New" && from != nil && from.Name == "par"
			}
		}
		return true
	})
	return found
}
