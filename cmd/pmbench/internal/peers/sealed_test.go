package peers

import (
	"os"
	"path/filepath"
	"testing"
)

func TestDifferentWords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result")
	if err := os.WriteFile(file, []byte{1, 0, 0, 0, 2, 0, 0, 0}, 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := differentWords(file, []uint32{1, 3}); got != 1 || err != nil {
		t.Errorf("%g, %v", got, err)
	}
	if _, err := differentWords(file, []uint32{1}); err == nil {
		t.Error("a result of another length")
	}
}
