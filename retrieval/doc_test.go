package retrieval

import (
	"os"
	"strings"
	"testing"
)

// The package comment has the table that Example_shares prints.
func TestTableOfShares(t *testing.T) {
	comment, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(example), "// share  cells")
	table, _, end := strings.Cut(table, "}")
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if !found || !end || len(lines) < 5 {
		t.Fatal("no table")
	}
	for _, line := range lines[1:] {
		row := strings.TrimPrefix(strings.TrimSpace(line), "// ")
		if !strings.Contains(string(comment), "//\t"+row+"\n") {
			t.Errorf("the package comment lacks %q", row)
		}
	}
}
