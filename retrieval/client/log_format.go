package client

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// A log is a header and entries one after the other, little-endian. Entries are added at
// the end, each once, and never change.
//
//	header               entry
//	 0 magic              0 length L of the message, uint32
//	 8 version, uint32    4 CRC-32C of where the entry begins, uint64, and L
//	12 number, uint32     8 key
//	                     40 message
//	                   40+L first 16 bytes of SHA-256 of where the entry begins, uint64,
//	                        and all of the entry before this
//
// The sums find accidents: they have no secret in them.
const (
	logHeader  = 16
	logMagic   = "PMMEMORY"
	logVersion = 1

	placeSize = 8 // of where an entry begins, which stands ahead of it in its sum
	entryHead = 8
	entryBody = entryHead + sha256.Size // before the message
	entrySum  = 16

	// maxKept is more than any message that is kept.
	maxKept = 1 << 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// newLogHeader returns the header of the log of a number.
func newLogHeader(number int) []byte {
	b := append(make([]byte, 0, logHeader), logMagic...)
	b = binary.LittleEndian.AppendUint32(b, logVersion)
	return binary.LittleEndian.AppendUint32(b, uint32(number))
}

// headSum is the sum of a length, with the place of its entry ahead of it.
func headSum(placed []byte) uint32 { return crc32.Checksum(placed[:placeSize+4], castagnoli) }

// appendPlace begins an entry: where it is, which is part of its sums and not written.
func appendPlace(b []byte, at int64) []byte { return binary.LittleEndian.AppendUint64(b, uint64(at)) }

// appendEntry returns b with the entry of a message that begins at a place in its log.
func appendEntry(b []byte, at int64, key Key, message []byte) []byte {
	placed := appendPlace(make([]byte, 0, placeSize+entryBody+len(message)), at)
	placed = binary.LittleEndian.AppendUint32(placed, uint32(len(message)))
	placed = binary.LittleEndian.AppendUint32(placed, headSum(placed))
	placed = append(append(placed, key[:]...), message...)
	sum := sha256.Sum256(placed)
	return append(append(b, placed[placeSize:]...), sum[:entrySum]...)
}

// entryLength returns the length of a whole entry by its head, with its place ahead of it,
// 0 for an invalid head.
func entryLength(placed []byte) int {
	length := binary.LittleEndian.Uint32(placed[placeSize:])
	if binary.LittleEndian.Uint32(placed[placeSize+4:]) != headSum(placed) || length == 0 || length > maxKept {
		return 0
	}
	return entryBody + int(length) + entrySum
}

// openEntry returns what a whole entry holds, with its place ahead of it, or false where its
// sum is wrong.
func openEntry(placed []byte) (key Key, message []byte, ok bool) {
	body := placed[:len(placed)-entrySum]
	if sum := sha256.Sum256(body); !bytes.Equal(sum[:entrySum], placed[len(body):]) {
		return key, nil, false
	}
	return Key(body[placeSize+entryHead:]), body[placeSize+entryBody:], true
}

// readEntries calls add for one entry after the other, from a place up to size, and
// returns where the first one begins that is not whole, or the end.
func readEntries(r io.ReaderAt, from, size int64, add func(at int64, key Key)) (end int64, err error) {
	buffered := bufio.NewReaderSize(io.NewSectionReader(r, from, size-from), 1<<16)
	var placed []byte
	for at := from; ; {
		head, err := buffered.Peek(entryHead)
		if err == io.EOF {
			return at, nil
		}
		if err != nil {
			return at, err
		}
		placed = append(appendPlace(placed[:0], at), head...)
		length := entryLength(placed)
		if length == 0 || int64(length) > size-at {
			return at, nil
		}
		placed = slices.Grow(placed, length)[:placeSize+length]
		switch _, err := io.ReadFull(buffered, placed[placeSize:]); {
		case err == io.EOF || err == io.ErrUnexpectedEOF: // somebody has just taken it off
			return at, nil
		case err != nil:
			return at, err
		}
		key, _, ok := openEntry(placed)
		if !ok {
			return at, nil
		}
		add(at, key)
		at += int64(length)
	}
}

// readHeader reports whether a file begins with the header of the log of a number. A file
// that is too short for a header has none.
func readHeader(r io.ReaderAt, number int) (there bool, err error) {
	header := make([]byte, logHeader)
	if _, err := r.ReadAt(header, 0); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return checkHeader(header, number)
}

// checkHeader compares the first bytes of a log with those of the log of a number. A
// header that was not written to its end is not there.
func checkHeader(b []byte, number int) (there bool, err error) {
	want := newLogHeader(number)
	switch {
	case bytes.Equal(b, want):
		return true, nil
	case bytes.HasPrefix(want, bytes.TrimRight(b, "\x00")):
		return false, nil
	case string(b[:8]) != logMagic:
		return false, errors.New("a file of it is no log of a memory")
	case !bytes.Equal(b[:12], want[:12]):
		return false, fmt.Errorf("a file of it has format version %d, this program reads %d", binary.LittleEndian.Uint32(b[8:]), logVersion)
	}
	return false, errors.New("a file of it has the name of another")
}

// An entry is written at once and synced before Keep returns, one at a time: what a crash
// leaves in part is the last entry alone. torn reports whether the bytes from a place on, up to
// the end of the log, can be that: the end of the entry is missing, or was not written and
// is zero. Anything else is damage.
func torn(r io.ReaderAt, number int, at, size int64) (bool, error) {
	placed := appendPlace(nil, at)
	placed = append(placed, make([]byte, min(size-at, maxKept+entryBody+entrySum+1))...)
	rest := placed[placeSize:]
	if _, err := r.ReadAt(rest, at); err != nil {
		return false, err
	}
	if int64(len(rest)) < size-at {
		return false, nil // more than one entry
	}
	written := bytes.TrimRight(rest, "\x00")
	if at == 0 {
		return bytes.HasPrefix(newLogHeader(number), written), nil
	}
	if len(written) < entryHead {
		return true, nil
	}
	length := entryLength(placed)
	return length > len(rest) || length == len(rest) && len(rest)-len(written) >= 8, nil
}
