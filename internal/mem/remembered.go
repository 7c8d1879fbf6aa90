package mem

import (
	"errors"
	"io/fs"
	"sync"
	"time"
)

// fresh is how long what the files of the system said is taken for true. To read them takes half a
// millisecond, as long as a small call. Other processes may take memory at any time, also in the middle of a
// call: a second more or less changes little. What this process takes itself counts at once: it may read
// a file and ask what is left for the work in less than a second.
const fresh = time.Second

// A remembered is what the files of the system leave, read at most once in a while.
type remembered struct {
	mu    sync.Mutex
	bytes int64
	held  int64     // bytes that this process held then
	read  time.Time // the zero time: never
}

// left returns what the files under root leave, in a process that holds the given bytes. Where they cannot be
// read, as by a process without a free descriptor, what they said before counts.
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
// groups leave. The error is that of a file which is there and cannot be read.
func filesLeft(root fs.FS) (left int64, err error) {
	meminfo, err := fs.ReadFile(root, "proc/meminfo")
	if errors.Is(err, fs.ErrNotExist) { // no Linux
		err = nil
	}
	return min(meminfoLeft(meminfo), controlGroupsLeft(root)), err
}
