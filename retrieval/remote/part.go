package remote

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/seed-64e14a55/privatemail/internal/lock"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A part is the file of a download that is not complete: a line with the hash of the whole,
// and its first bytes. One process at a time writes to it; another one that fetches the
// same goes without. It is not synced: what a crash makes of it shows when the whole does
// not have that hash. A nil part keeps nothing.
type part struct {
	file *os.File
	warn func(error)
}

// openPart opens the part of a thing, and returns what is in it. The result is nil where
// there is no cache, or somebody else has it.
func (c *cache) openPart(codebook wire.Hash, what string, most, room int64) (*part, *received) {
	got := new(received)
	if c.folder == "" {
		return nil, got
	}
	path := c.path(codebook, what) + ".part"
	err := os.MkdirAll(c.folder, 0o700)
	var f *os.File
	if err == nil {
		f, err = lock.Open(path, os.O_CREATE)
	}
	if err != nil {
		if !errors.Is(err, lock.ErrHeld) {
			c.warn(fmt.Errorf("remote: the cache: a download that is cut off will begin again in the next run: %w", bare(err)))
		}
		return nil, got
	}
	got.part = &part{file: f, warn: c.warn}
	switch tag, data, err := readPart(f, most, room); {
	case err == nil:
		got.tag, got.data = tag, data
	case errors.Is(err, ErrTooLong): // it stays for a run with more memory
		got.part.close()
		return nil, new(received)
	default:
		got.reset()
	}
	return got.part, got
}

// errPart reports a file that is no part. The download begins again.
var errPart = errors.New("no part of a download")

// readPart reads a part of a thing of at most the given length. The place in f is then
// behind it. The error is ErrTooLong where there is no room for it.
func readPart(f io.ReadSeeker, most, room int64) (tag string, data []byte, err error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return "", nil, err
	}
	const line = len(`"`) + 64 + len("\"\n")
	if size <= int64(line) || size-int64(line) > most {
		return "", nil, errPart
	}
	if size-int64(line) > room {
		return "", nil, ErrTooLong
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", nil, err
	}
	r := bufio.NewReader(f)
	head := make([]byte, line)
	if _, err := io.ReadFull(r, head); err != nil {
		return "", nil, err
	}
	if tag = tagOf(string(head[:line-1])); tag == "" || head[line-1] != '\n' {
		return "", nil, errPart
	}
	data = make([]byte, size-int64(line))
	if _, err := io.ReadFull(r, data); err != nil {
		return "", nil, err
	}
	return tag, data, nil
}

// begin empties the part and notes the hash of the whole. Without a hash nothing is kept.
func (p *part) begin(tag string) {
	if p == nil || p.file == nil {
		return
	}
	_, err := p.file.Seek(0, io.SeekStart)
	if err == nil {
		err = p.file.Truncate(0)
	}
	if err == nil && tag != "" {
		_, err = fmt.Fprintf(p.file, "\"%s\"\n", tag)
	}
	p.told(err)
}

// add keeps further bytes.
func (p *part) add(data []byte) {
	if p == nil || p.file == nil || len(data) == 0 {
		return
	}
	_, err := p.file.Write(data)
	p.told(err)
}

// told gives a part up that cannot be written to.
func (p *part) told(err error) {
	if err == nil {
		return
	}
	p.warn(fmt.Errorf("remote: the cache: a download that is cut off will begin again in the next run: %w", bare(err)))
	p.remove()
}

// remove removes the file. Somebody who has opened it in the meantime loses a part and
// nothing else.
func (p *part) remove() {
	if p == nil || p.file == nil {
		return
	}
	p.file.Close() // what is in it does not matter any more
	os.Remove(p.file.Name())
	p.file = nil
}

// close leaves the file for a later process, unless it is empty.
func (p *part) close() {
	if p == nil || p.file == nil {
		return
	}
	if info, err := p.file.Stat(); err == nil && info.Size() == 0 {
		p.remove()
		return
	}
	p.file.Close() // nothing of it is needed
	p.file = nil
}
