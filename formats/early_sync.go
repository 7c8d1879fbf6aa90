package formats

import "os"

// earlyBytes is how much is written before the disk is told to begin with it.
const earlyBytes = 4 << 20

// earlySync has the disk write what a file already holds while the rest of it is made, so that
// little is left for the sync at the end. It promises nothing: only that sync makes a file last.
type earlySync struct {
	f             *os.File
	begun, length int64 // the bytes the disk was told about, and those written
}

func (w *earlySync) Write(p []byte) (int, error) {
	n, err := w.f.Write(p)
	w.length += int64(n)
	if w.length-w.begun >= earlyBytes {
		beginSync(w.f, w.begun, w.length-w.begun)
		w.begun = w.length
	}
	return n, err
}
