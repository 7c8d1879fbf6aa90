package calibration

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed-64e14a55/privatemail/internal/disk"
)

// mostBytes is more than any file of this package has.
const mostBytes = 1 << 14

// readSmall returns the first bytes of a file, and whether it is a regular file. Opening a
// pipe does not wait, and a pipe or a folder is not read.
func readSmall(path string) ([]byte, bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, mostBytes))
	return data, err == nil
}

// load reads the JSON of a file into a value, and reports whether it could.
func load(path string, into any) bool {
	data, ok := readSmall(path)
	return ok && json.Unmarshal(data, into) == nil
}

// save writes a file that another process may be reading, if it can. If not, the next process
// measures again.
func save(path string, content any) {
	data, err := json.Marshal(content)
	if err != nil {
		return
	}
	named, base := filepath.Split(path)
	if os.MkdirAll(named, 0o755) != nil {
		return
	}
	f, err := disk.Temporary(named, "."+base+".privatemail-", 0o600)
	if err != nil {
		return
	}
	if _, err = f.Write(data); err != nil || f.Rename(path) != nil {
		f.Remove()
	}
}
