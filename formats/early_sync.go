package formats

import "os"

// earlyBytes is how much is written before the system is asked to write it to the disk.
const earlyBytes = 4 << 20

// earlySync lets the disk write the first parts of a file while the rest is computed, so that
// little is left for the sync at the end. It guarantees nothing: only the sync makes a file
// durable.
type earlySync struct {
	f             *os.File
	begun, length int64 // the bytes that the disk was asked to write, and those written to the file
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
