//go:build linux && !arm

package formats

import (
	"os"
	"syscall"
)

// beginSync makes the system begin to write a part of f to the disk, and does not wait for it.
// A file system that cannot do this writes at the sync.
func beginSync(f *os.File, offset, length int64) {
	const begin = 2 // SYNC_FILE_RANGE_WRITE
	syscall.SyncFileRange(int(f.Fd()), offset, length, begin)
}
