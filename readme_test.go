package privatemail_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The code around the snippet of README.md: its imports, and the variables it assumes.
const (
	beforeSnippet = `package main

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/kernel"
)

func main() { _ = snippet }

func snippet(ctx context.Context, n, d int, data []float32, labels []int32) error {
`
	afterSnippet = "return nil\n}\n"
)

// The Go code that README.md shows compiles.
func TestTheSnippetOfTheReadmeCompiles(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```go\n")
	code, _, closed := strings.Cut(rest, "```")
	if !ok || !closed || strings.Contains(rest, "```go\n") {
		t.Fatal("README.md should have one block of Go")
	}
	folder := t.TempDir()
	source, overlay := filepath.Join(folder, "main.go"), filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(source, []byte(beforeSnippet+code+afterSnippet), 0o644); err != nil {
		t.Fatal(err)
	}
	// The overlay adds the file to this module without writing it there.
	place, err := filepath.Abs(filepath.Join("cmd", "snippet", "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {place: source}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(overlay, replace, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-overlay", overlay, "-o", filepath.Join(folder, "snippet"), "./cmd/snippet").CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
