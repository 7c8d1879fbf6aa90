package mem

import (
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"
)

// counted are files that count how often they are read, and that may fail.
type counted struct {
	fstest.MapFS
	reads  int
	failed error
}

// ReadFile implements fs.ReadFileFS.
func (c *counted) ReadFile(name string) ([]byte, error) {
	c.reads++
	if c.failed != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: c.failed}
	}
	return c.MapFS.ReadFile(name)
}

// Files are read at most once a second.
func TestFilesAreRemembered(t *testing.T) {
	root := &counted{MapFS: files{"proc/meminfo": "MemAvailable: 10 kB\n"}.tree()}
	var r remembered
	now := time.Unix(1e9, 0)
	if got := r.left(root, now, 5000); got != 10240 || root.reads == 0 {
		t.Fatalf("%d bytes after %d reads", got, root.reads)
	}
	root.reads = 0
	root.MapFS = files{"proc/meminfo": "MemAvailable: 20 kB\n"}.tree()
	if got := r.left(root, now.Add(fresh-1), 5000); got != 10240 || root.reads != 0 {
		t.Errorf("within the second: %d bytes after %d reads", got, root.reads)
	}
	if got := r.left(root, now.Add(fresh), 5000); got != 20480 || root.reads == 0 {
		t.Errorf("after a second: %d bytes after %d reads", got, root.reads)
	}
}

// Files that cannot be read for a while, as without a free descriptor, do not mean that there
// is no limit.
func TestFilesThatFailAreRemembered(t *testing.T) {
	root := &counted{MapFS: files{"proc/meminfo": "MemAvailable: 10 kB\n"}.tree()}
	var r remembered
	now := time.Unix(1e9, 0)
	r.left(root, now, 5000)
	root.failed = errors.New("too many open files")
	if got := r.left(root, now.Add(time.Hour), 5000); got != 10240 {
		t.Errorf("%d bytes, want those of before", got)
	}
	if got := new(remembered).left(root, now, 5000); got != unlimited {
		t.Errorf("%d bytes that no file shows", got)
	}
	if got := new(remembered).left(fstest.MapFS{}, now, 5000); got != unlimited {
		t.Errorf("%d bytes on another system", got)
	}
}

// Memory that this process has taken since the files were read is not left.
func TestWhatIsTakenMeanwhile(t *testing.T) {
	root := files{"proc/meminfo": "MemAvailable: 10 kB\n"}.tree()
	var r remembered
	now := time.Unix(1e9, 0)
	for _, c := range []struct {
		after      time.Duration
		held, want int64
	}{
		{0, 5000, 10240}, {1, 9000, 6240}, {2, 4000, 10240}, {3, 50000, 0}, {fresh, 50000, 10240}, {fresh + 1, 50001, 10239},
	} {
		if got := r.left(root, now.Add(c.after), c.held); got != c.want {
			t.Errorf("after %v, holding %d bytes: %d are left, want %d", c.after, c.held, got, c.want)
		}
	}
	if got := new(remembered).left(fstest.MapFS{}, now, 5000); got != unlimited {
		t.Errorf("%d bytes are left where no file says so", got)
	}
}
