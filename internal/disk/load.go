package disk

import (
	"io"
	"os"
	"unsafe"
)

// Load returns the first size bytes of f, mapped if the system can, and read otherwise. The
// bytes must not be changed. They begin at a multiple of 8 bytes, and are valid until release
// is called, even after f is closed.
func Load(f *os.File, size int) (data []byte, release func() error, err error) {
	if size > 0 {
		if data, release, err = Map(f, size); err == nil {
			return data, release, nil
		}
	}
	return read(f, size)
}

// read is Load without a mapping.
func read(f *os.File, size int) (data []byte, release func() error, err error) {
	words := make([]uint64, (size+7)/8) // as words, which are aligned
	if size > 0 {
		data = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), size)
	}
	if _, err := io.ReadFull(io.NewSectionReader(f, 0, int64(size)), data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
