package mem

import (
	"errors"
	"io/fs"
	"sync"
	"time"
)

// fresh is how long the values in the files of the system are reused. Reading them takes half a
// millisecond, as long as a small call. Other processes may take memory at any time, even
// during a call, so a second more or less changes little. Memory that this process takes counts
// at once: it may read a file and ask what is left for the work in less than a second.
const fresh = time.Second

// A remembered has what the files of the system leave, read at most once per fresh.
type remembered struct {
	mu    sync.Mutex
	bytes int64
	held  int64     // bytes that this process held at that time
	read  time.Time // the zero time: never
}

// left returns what the files under root leave, in a process that holds the given bytes. If
// they cannot be read, for example for lack of a free descriptor, their earlier values count.
func (r *remembered) left(root fs.FS, now time.Time, held int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := !r.read.IsZero()
	if !known || now.Sub(r.read) >= fresh {
		left, err := filesLeft(root)
		if err == nil || !known {
			r.bytes, r.held = left, held
		}
		r.read = now
	}
	if r.bytes == unlimited {
		return unlimited
	}
	return max(r.bytes-max(held-r.held, 0), 0)
}

// filesLeft returns what the files under root leave: what the kernel calls available, and what control
// groups leave. The error is that of a file that exists but cannot be read.
func filesLeft(root fs.FS) (left int64, err error) {
	meminfo, err := fs.ReadFile(root, "proc/meminfo")
	if errors.Is(err, fs.ErrNotExist) { // not Linux
		err = nil
	}
	return min(meminfoLeft(meminfo), controlGroupsLeft(root)), err
}
