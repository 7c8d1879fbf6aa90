package disk

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"
)

// A file has the same bytes mapped and read.
func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"", "a", "seven..", "more than eight bytes"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, load := range map[string]func(*os.File, int) ([]byte, func() error, error){"Load": Load, "read": read} {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			data, release, err := load(f, len(text))
			f.Close() // the bytes outlive it
			if err != nil {
				t.Fatalf("%s of %d bytes: %v", name, len(text), err)
			}
			if string(data) != text || uintptr(unsafe.Pointer(unsafe.SliceData(data)))%8 != 0 {
				t.Errorf("%s of %d bytes: others, or not aligned", name, len(text))
			}
			if err := release(); err != nil {
				t.Error(err)
			}
		}
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, _, err := read(f, 1000); err == nil {
		t.Error("more bytes than the file has")
	}
}
