package formats

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// A file written with early syncs has all its bytes, for writes of any size.
func TestEarlySync(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large")
	for _, piece := range []int{1, 1000, writePiece, earlyBytes - 1, earlyBytes, earlyBytes + 1} {
		want := bytes.Repeat([]byte{1, 2, 3, 5, 8, byte(piece)}, (2*min(piece, 1000)*1000+earlyBytes)/6)
		if piece == 1 {
			want = want[:5000]
		}
		err := WriteFile(t.Context(), path, func(w io.Writer) error {
			for left := want; len(left) > 0; {
				n, err := w.Write(left[:min(piece, len(left))])
				if err != nil {
					return err
				}
				left = left[n:]
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("pieces of %d bytes: %d bytes of %d, or others, %v", piece, len(got), len(want), err)
		}
	}
}

// A sync begins once enough is written, and no bytes are synced twice.
func TestEarlySyncBegins(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, part := &earlySync{f: f}, make([]byte, earlyBytes/2+1)
	for i, begun := range []int64{0, 2, 2, 4, 4} {
		if n, err := w.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
		if w.begun != begun*int64(len(part)) || w.length != int64(i+1)*int64(len(part)) {
			t.Errorf("after %d parts: %d bytes of %d begun", i+1, w.begun, w.length)
		}
	}
	f.Close()
	if n, err := w.Write(part); n != 0 || err == nil {
		t.Errorf("a closed file takes %d bytes, %v", n, err)
	}
	beginSync(f, 0, 1) // does nothing
}
