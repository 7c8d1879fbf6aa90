package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// A kind tells the messages apart. Each is declared next to its message: those
// of the cells from 16 on, those of mode sealed from 32 on.
type kind uint16

// A frame is
//
//	"PMW1"  kind  version  length of the body  body     checksum of all before it
//	4       2     2        8                   length   32, or 8 for long messages
//
// bytes long, whole numbers little-endian. The checksum finds accidents; it is
// no signature.
const (
	magic      = "PMW1"
	headSize   = len(magic) + 2 + 2 + 8
	frameSize  = headSize + sha256.Size // of an empty body with a SHA-256: no message is shorter
	maxMessage = math.MaxInt32          // bytes of a body: more is no message of ours
	maxAllRows = 1 << 48                // bytes of the body of AllRows
)

// A format is what the head of a frame says about the message.
type format struct {
	kind     kind
	version  uint16
	checksum func() checksum // starts the checksum of a frame
}

// most returns how many bytes a body of the format may have.
func (f format) most() int64 {
	if f.kind == kindAllRows {
		return maxAllRows
	}
	return maxMessage
}

// body is what the package knows of a message that it frames.
type body interface {
	Check() error
	format() format
	// fields returns the length of the body and what encodes it.
	fields() (size int64, encode func(*encoder), err error)
}

// Sentinels, matched with errors.Is.
var (
	// ErrMessage reports bytes that are no message, or one with a field that
	// is wrong.
	ErrMessage = errors.New("not a valid message")
	// ErrChecksum reports a message that was changed on its way.
	ErrChecksum = errors.New("checksum does not match")
	// ErrVersion reports a message in a format of another version.
	ErrVersion = errors.New("version not supported")
	// ErrCodebook reports a message that goes with another codebook than the
	// one at hand, or a codebook that is not the one expected, or may not be the
	// one that others have.
	ErrCodebook = errors.New("another codebook")
)

// An Error says what is wrong with a message, and where. It wraps one of the
// sentinels, and never holds a value of the message's rows.
type Error struct {
	Field  string // of the message; "" when it is about no field
	Detail string // what was wrong, in words
	Err    error  // one of the sentinels
}

func (e *Error) Error() string {
	if e.Field == "" {
		return fmt.Sprintf("wire: %v: %s", e.Err, e.Detail)
	}
	return fmt.Sprintf("wire: %v: %s: %s", e.Err, e.Field, e.Detail)
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// refuse returns an ErrMessage about a field.
func refuse(field, format string, args ...any) error {
	return &Error{Field: field, Detail: fmt.Sprintf(format, args...), Err: ErrMessage}
}

// IsFrame reports whether bytes begin like a message and are not too few for one. Nothing behind
// the head is looked at.
func IsFrame(b []byte) bool {
	_, err := kindOf(b)
	return err == nil
}

// kindOf returns the kind a frame says it has. Nothing behind the head has been looked at.
func kindOf(frame []byte) (kind, error) {
	switch {
	case !bytes.HasPrefix(frame, []byte(magic)):
		return 0, refuse("", "%d bytes that do not begin like a message", len(frame))
	case len(frame) < frameSize:
		return 0, refuse("", "%d bytes, and no message is that short: it was cut off", len(frame))
	}
	return kind(binary.LittleEndian.Uint16(frame[len(magic):])), nil
}

// appendFrame appends the frame of a message to b. After an error b is as it was.
func appendFrame(b []byte, m body) ([]byte, error) {
	size, encode, err := checkedFields(m)
	if err != nil {
		return b, err
	}
	f := m.format()
	whole := int64(headSize) + size + int64(f.checksum().Size())
	if whole > math.MaxInt {
		return b, refuse("", "%d bytes, more than the memory of this machine can hold", whole)
	}
	out := appender{slices.Grow(b, int(whole))}
	if _, err := writeBody(&out, f, size, encode); err != nil {
		return b, err
	}
	return out.b, nil
}

// writeFrame writes the frame of a message to w, piece by piece. Nothing is written of
// a message that is not valid.
func writeFrame(w io.Writer, m body) (int64, error) {
	size, encode, err := checkedFields(m)
	if err != nil {
		return 0, err
	}
	return writeBody(w, m.format(), size, encode)
}

// endOf returns the checksum that the frame of a message ends with, a SHA-256. The frame is not
// held in memory.
func endOf(m body) (h Hash, err error) {
	var w lastBytes
	if _, err := writeFrame(&w, m); err != nil {
		return h, err
	}
	return Hash(w), nil
}

// lastBytes keeps the last bytes that were written to it.
type lastBytes Hash

// Write implements io.Writer.
func (l *lastBytes) Write(b []byte) (int, error) {
	n := copy(l[:], l[min(len(b), len(l)):]) // those that stay move ahead
	copy(l[n:], b[max(0, len(b)-len(l)):])
	return len(b), nil
}

func checkedFields(m body) (size int64, encode func(*encoder), err error) {
	if err := m.Check(); err != nil {
		return 0, nil, err
	}
	if size, encode, err = m.fields(); err == nil && size > m.format().most() {
		err = refuse("", "%d bytes, at most %d are allowed", size, m.format().most())
	}
	return size, encode, err
}

// writeBody writes a frame whose body has the given size.
func writeBody(w io.Writer, f format, size int64, encode func(*encoder)) (int64, error) {
	e := newEncoder(w, f.checksum())
	defer e.close()
	e.fixed([]byte(magic))
	e.uint16(uint16(f.kind))
	e.uint16(f.version)
	e.uint64(uint64(size))
	encode(e)
	return e.finish()
}

// open returns a decoder of the body of a frame that must be of the given format,
// complete and unchanged, with nothing behind it.
func open(f format, frame []byte) (*decoder, error) {
	d, err := openUnsummed(f, frame)
	if err != nil {
		return nil, err
	}
	sum := f.checksum()
	end := len(frame) - sum.Size()
	sum.Write(frame[:end])
	if !bytes.Equal(sum.Sum(nil), frame[end:]) {
		return nil, &Error{Detail: "the message was changed", Err: ErrChecksum}
	}
	return d, nil
}

// openUnsummed is open for a frame whose checksum is not looked at.
func openUnsummed(f format, frame []byte) (*decoder, error) {
	got, err := kindOf(frame)
	if err != nil {
		return nil, err
	}
	if got != f.kind {
		return nil, refuse("kind", "%d, want %d", got, f.kind)
	}
	head := frame[len(magic)+2 : headSize]
	if v := binary.LittleEndian.Uint16(head); v != f.version {
		return nil, &Error{Field: "version", Detail: fmt.Sprintf("%d; this program reads %d alone, so the other side needs the same release of it", v, f.version), Err: ErrVersion}
	}
	length, end := binary.LittleEndian.Uint64(head[2:]), len(frame)-f.checksum().Size()
	if length > uint64(f.most()) || length != uint64(end-headSize) {
		return nil, refuse("length", "%d in a frame of %d bytes", length, len(frame))
	}
	return &decoder{left: frame[headSize:end]}, nil
}

// finish sets dst to a message that was read whole and holds what it must.
func finish[T any](d *decoder, dst, out *T, check func() error) error {
	if err := d.done(); err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	*dst = *out
	return nil
}
