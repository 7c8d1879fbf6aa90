//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package formats

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func TestWriteFileMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	path := filepath.Join(t.TempDir(), "out")
	for _, c := range []struct{ set, want os.FileMode }{{0, 0o640}, {0o604, 0o604}, {0o444, 0o444}, {0o777, 0o777}} {
		if c.set != 0 {
			if err := os.Chmod(path, c.set); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteFile(t.Context(), path, text("x")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil || info.Mode() != c.want {
			t.Errorf("after %o: got %v, %v, want %v", c.set, info.Mode(), err, c.want)
		}
	}
}

func TestWriteFileSymlink(t *testing.T) {
	root := t.TempDir()
	links, data := filepath.Join(root, "links"), filepath.Join(root, "data")
	for _, dir := range []string{links, data} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(links, "out")
	for name, target := range map[string]string{
		"relative": "../data/a", "absolute": filepath.Join(data, "b"), "chain": "next",
	} {
		t.Run(name, func(t *testing.T) {
			os.Remove(link)
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}
			if name == "chain" {
				if err := os.Symlink("../data/c", filepath.Join(links, "next")); err != nil {
					t.Fatal(err)
				}
			}
			for _, want := range []string{"dangling", "existing"} {
				if err := WriteFile(t.Context(), link, text(want)); err != nil {
					t.Fatal(err)
				}
				if got := load(t, link); string(got) != want {
					t.Errorf("got %q, want %q", got, want)
				}
				if to, err := os.Readlink(link); err != nil || to != target {
					t.Errorf("the link became %q, %v", to, err)
				}
			}
		})
	}
	onlyFiles(t, data, "a", "b", "c")
	onlyFiles(t, links, "next", "out")

	loop := filepath.Join(root, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	wantError(t, WriteFile(t.Context(), loop, text("x")), ErrUnsupported, loop, "links")
	circle := filepath.Join(root, "circle.npy")
	if err := os.Symlink("circle.npy", circle); err != nil {
		t.Fatal(err)
	}
	_, err := CreateShared(circle, 2, 2)
	wantError(t, err, ErrUnsupported, circle, "links")
}

func TestPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.npy")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := ReadMatrix(pipe) // must not wait for a writer
	wantError(t, err, ErrUnsupported, pipe, "not a regular file")

	got := make(chan string)
	go func() {
		var data []byte
		if f, err := os.Open(pipe); err == nil {
			data, _ = io.ReadAll(f)
			f.Close()
		}
		got <- string(data)
	}()
	if err := WriteFile(t.Context(), pipe, text("hello")); err != nil {
		t.Error(err)
	}
	if s := <-got; s != "hello" {
		t.Errorf("got %q from the pipe", s)
	}
}

// TestWriteFileDiskFull uses a device that refuses every write.
func TestWriteFileDiskFull(t *testing.T) {
	const full = "/dev/full"
	if runtime.GOOS != "linux" {
		t.Skip("the device is Linux's")
	}
	wantError(t, WriteFile(t.Context(), full, text("x")), syscall.ENOSPC, full)
	err := WriteFile(t.Context(), full, func(w io.Writer) error {
		_, err := w.Write(make([]byte, 2*bufferSize))
		return err
	})
	wantError(t, err, syscall.ENOSPC, full)
}
