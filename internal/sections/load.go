package sections

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// Load reads a file of a kind into memory and compares all its checksums. Later changes of the
// file have no effect: a process that runs for weeks does not depend on whether the file is
// truncated or overwritten. Errors are those of Open and that of ctx.
func Load(ctx context.Context, path, kind string) (*File, error) {
	f, err := openBy(path, kind, func(file *os.File, size int) ([]byte, func() error, error) { return intoMemory(ctx, file, size) })
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil, failf(path, ErrDamaged, "it was truncated while it was read")
	}
	if err != nil {
		return nil, err
	}
	if err := f.VerifyAll(ctx, nil); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	f.compared = true
	return f, nil
}

// intoMemory returns the first size bytes of a file, at least one, in memory that Go does not
// manage.
func intoMemory(ctx context.Context, file *os.File, size int) (data []byte, release func() error, err error) {
	const few = 64 << 20 // asking the system takes longer than reading them
	if size > few {
		if free := mem.Available(); int64(size) > free {
			return nil, nil, fmt.Errorf("its %d bytes do not fit into memory: %d are free", size, free)
		}
	}
	if data, release, err = mem.Outside(size); err != nil {
		return nil, nil, err
	}
	for at := 0; at < size && err == nil; at += atOnce {
		if err = ctx.Err(); err == nil {
			_, err = io.ReadFull(io.NewSectionReader(file, int64(at), atOnce), data[at:min(at+atOnce, size)])
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	return data, release, nil
}
