package formats

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// text returns a function for WriteFile that writes s.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// onlyFiles checks that a folder holds nothing else, hidden files included.
func onlyFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	big := strings.Repeat("0123456789abcdef", 3<<16) // more than one piece
	for _, want := range []string{"first", "second", "", big} {
		if err := WriteFile(t.Context(), path, text(want)); err != nil {
			t.Fatal(err)
		}
		if got := load(t, path); string(got) != want {
			t.Errorf("got %d bytes, want %d", len(got), len(want))
		}
	}
	onlyFiles(t, dir, "out")
}

func TestWriteFileRelative(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := WriteFile(t.Context(), "out", text("x")); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, "out")
}

func TestWriteFileLongName(t *testing.T) {
	dir := t.TempDir()
	name := strings.Repeat("ä", 120) // 240 of the 255 bytes that a name may have
	if err := WriteFile(t.Context(), filepath.Join(dir, name), text("x")); err != nil {
		t.Fatal(err)
	}
	onlyFiles(t, dir, name)
}

func TestWriteFileFails(t *testing.T) {
	cause := errors.New("no more data")
	for _, existing := range []bool{true, false} {
		for name, write := range map[string]func(io.Writer) error{
			"at once": func(io.Writer) error { return cause },
			"half way": func(w io.Writer) error {
				_, err := w.Write(make([]byte, 3*bufferSize))
				return errors.Join(err, cause)
			},
		} {
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				path := filepath.Join(dir, "out")
				if existing {
					if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				wantError(t, WriteFile(t.Context(), path, write), cause, path)
				if !existing {
					onlyFiles(t, dir)
					return
				}
				onlyFiles(t, dir, "out")
				if got := load(t, path); string(got) != "old" {
					t.Errorf("the old file became %q", got)
				}
			})
		}
	}
}

func TestWriteFilePanics(t *testing.T) {
	dir := t.TempDir()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		WriteFile(t.Context(), filepath.Join(dir, "out"), func(io.Writer) error { panic("test") })
	}()
	onlyFiles(t, dir)
}

func TestWriteFileCancelled(t *testing.T) {
	for name, cancelIn := range map[string]func(cancel func(), w io.Writer) error{
		"before a write": func(cancel func(), w io.Writer) error {
			cancel()
			return text("new")(w)
		},
		"unnoticed": func(cancel func(), w io.Writer) error {
			cancel()
			w.Write([]byte("new"))
			return nil
		},
		"after the last write": func(cancel func(), w io.Writer) error {
			err := text("new")(w)
			cancel()
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			err := WriteFile(ctx, path, func(w io.Writer) error { return cancelIn(cancel, w) })
			wantError(t, err, context.Canceled, path)
			onlyFiles(t, dir, "out")
			if got := load(t, path); string(got) != "old" {
				t.Errorf("the old file became %q", got)
			}
		})
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(dir, "m.npy")
	wantError(t, WriteMatrix(ctx, path, 1, 1, []float32{1}), context.Canceled, path)
	onlyFiles(t, dir)
}

// TestContextWriterPieces checks that one large Write is interrupted between pieces.
func TestContextWriterPieces(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var seen int
	w := &contextWriter{ctx, writerFunc(func(p []byte) (int, error) {
		seen += len(p)
		cancel()
		return len(p), nil
	})}
	n, err := w.Write(make([]byte, 10*writePiece))
	if n != writePiece || seen != writePiece || !errors.Is(err, context.Canceled) {
		t.Errorf("wrote %d, %d of them arrived, %v", n, seen, err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriteFileRefused(t *testing.T) {
	dir := t.TempDir()
	wantError(t, WriteFile(t.Context(), dir, text("x")), ErrUnsupported, dir, "folder")
	path := filepath.Join(dir, "none", "out")
	wantError(t, WriteFile(t.Context(), path, text("x")), fs.ErrNotExist, path)
	path = put(t, "file", nil) + "/out"
	if err := WriteFile(t.Context(), path, text("x")); err == nil {
		t.Error("a file was accepted as a folder")
	}
	onlyFiles(t, dir)
}

// TestWriteFileOtherFile checks that an error about another file during writing keeps the name
// of that file.
func TestWriteFileOtherFile(t *testing.T) {
	path, other := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "other.npy")
	err := WriteFile(t.Context(), path, func(io.Writer) error {
		_, err := ReadMatrix(other)
		return err
	})
	wantError(t, err, fs.ErrNotExist, path, other)
}

func TestWriteFileDevice(t *testing.T) {
	if err := WriteFile(t.Context(), os.DevNull, text("x")); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(os.DevNull)
	if err != nil || info.Mode().IsRegular() {
		t.Errorf("the device became %v, %v", info, err)
	}
}

func TestWriteFileStdout(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout := os.Stdout
	os.Stdout = w
	err = WriteFile(t.Context(), "/dev/stdout", text("hello"))
	os.Stdout = stdout
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, []byte("hello")) {
		t.Errorf("got %q, %v", got, err)
	}
}
