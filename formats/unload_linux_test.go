package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// An unloaded mapping takes no memory, and is read from the file again.
func TestUnload(t *testing.T) {
	const rows, cols = 4096, 1024
	want := make([]float32, rows*cols)
	for i := range want {
		want[i] = float32(i % 9973)
	}
	path := filepath.Join(t.TempDir(), "x.npy")
	if err := WriteMatrix(t.Context(), path, rows, cols, want); err != nil {
		t.Fatal(err)
	}
	m, err := ReadMatrix(path)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if !m.Mapped() {
		t.Skip("the system maps no files")
	}
	if !slices.Equal(m.Data, want) {
		t.Fatal("other values")
	}
	read := mappedBytes(t, path)
	m.Unload()
	unloaded := mappedBytes(t, path)
	if read < 4*rows*cols || unloaded > read/100 {
		t.Errorf("%d bytes in memory after reading, %d after unloading", read, unloaded)
	}
	if !slices.Equal(m.Data, want) {
		t.Error("other values after unloading")
	}
}

// A matrix that is not mapped keeps its values.
func TestUnloadOfNoMapping(t *testing.T) {
	m := &Matrix{Rows: 1 << 12, Cols: 2, Data: slices.Repeat([]float32{7}, 2<<12)}
	m.Unload()
	if slices.ContainsFunc(m.Data, func(v float32) bool { return v != 7 }) {
		t.Error("values are lost")
	}
	new(Matrix).Unload()
}

// mappedBytes is how much of the mappings of a file is in memory.
func mappedBytes(t *testing.T, path string) int {
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	_, rest, found := strings.Cut(string(maps), path)
	if !found {
		t.Skip("the mapping is not listed")
	}
	_, rest, _ = strings.Cut(rest, "Rss:")
	kilobytes, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}
