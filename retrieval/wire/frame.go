package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A Kind tells the messages apart. Each is declared beside its message: those
// of Algorithm 1 from 1 on, those of the cells from 16 on.
type Kind uint16

// A frame is
//
//	"PMW1"  kind  version  length of the body  body     SHA-256 of all before it
//	4       2     2        8                   length   32
//
// bytes long, whole numbers little-endian. The checksum finds accidents; it is
// no signature.
const (
	magic      = "PMW1"
	headSize   = len(magic) + 2 + 2 + 8
	frameSize  = headSize + sha256.Size // of an empty body
	maxMessage = math.MaxInt32          // bytes of a body: more is no message of ours
)

// Sentinels, matched with errors.Is.
var (
	// ErrMessage reports bytes that are no message, or one with a field that
	// is wrong.
	ErrMessage = errors.New("not a valid message")
	// ErrChecksum reports a message that was changed on its way.
	ErrChecksum = errors.New("checksum does not match")
	// ErrVersion reports a message in a format of another version.
	ErrVersion = errors.New("version not supported")
)

// An Error says what is wrong with a message, and where. It wraps one of the
// sentinels, and never holds a value of the message's rows.
type Error struct {
	Field  string // of the message; "" when it is none
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

// KindOf returns the kind a frame says it has, so that a service can choose who
// reads it. Nothing behind the head has been looked at.
func KindOf(frame []byte) (Kind, error) {
	if len(frame) < frameSize || string(frame[:len(magic)]) != magic {
		return 0, refuse("", "%d bytes that do not begin like a message", len(frame))
	}
	return Kind(binary.LittleEndian.Uint16(frame[len(magic):])), nil
}

// seal returns the frame of a body. Its only error is a body that is too long.
func seal(kind Kind, version uint16, body []byte) ([]byte, error) {
	if len(body) > maxMessage {
		return nil, refuse("", "%d bytes, at most %d are allowed", len(body), maxMessage)
	}
	frame := make([]byte, 0, frameSize+len(body))
	frame = append(frame, magic...)
	frame = binary.LittleEndian.AppendUint16(frame, uint16(kind))
	frame = binary.LittleEndian.AppendUint16(frame, version)
	frame = binary.LittleEndian.AppendUint64(frame, uint64(len(body)))
	frame = append(frame, body...)
	sum := sha256.Sum256(frame)
	return append(frame, sum[:]...), nil
}

// open returns a decoder of the body of a frame that must be of the given kind
// and version, complete and unchanged, with nothing behind it.
func open(kind Kind, version uint16, frame []byte) (*decoder, error) {
	got, err := KindOf(frame)
	if err != nil {
		return nil, err
	}
	if got != kind {
		return nil, refuse("kind", "%d, want %d", got, kind)
	}
	head := frame[len(magic)+2 : headSize]
	if v := binary.LittleEndian.Uint16(head); v != version {
		return nil, &Error{Field: "version", Detail: fmt.Sprintf("%d, want %d", v, version), Err: ErrVersion}
	}
	length := binary.LittleEndian.Uint64(head[2:])
	if length > maxMessage || length != uint64(len(frame)-frameSize) {
		return nil, refuse("length", "%d in a frame of %d bytes", length, len(frame))
	}
	end := len(frame) - sha256.Size
	if sum := sha256.Sum256(frame[:end]); !bytes.Equal(sum[:], frame[end:]) {
		return nil, &Error{Detail: "the message was changed", Err: ErrChecksum}
	}
	return &decoder{left: frame[headSize:end]}, nil
}

// An encoder appends the fields of a body. The zero value is an empty body.
type encoder struct{ body []byte }

func (e *encoder) uint32(v uint32)   { e.body = binary.LittleEndian.AppendUint32(e.body, v) }
func (e *encoder) uint64(v uint64)   { e.body = binary.LittleEndian.AppendUint64(e.body, v) }
func (e *encoder) float64(v float64) { e.uint64(math.Float64bits(v)) }

// fixed appends bytes whose number both sides know.
func (e *encoder) fixed(v []byte) { e.body = append(e.body, v...) }

// bytes appends a length and the bytes, as the methods below do.
func (e *encoder) bytes(v []byte) {
	e.uint64(uint64(len(v)))
	e.fixed(v)
}

func (e *encoder) int32s(v []int32) {
	e.uint64(uint64(len(v)))
	for _, x := range v {
		e.uint32(uint32(x))
	}
}

func (e *encoder) uint32s(v []uint32) {
	e.uint64(uint64(len(v)))
	for _, x := range v {
		e.uint32(x)
	}
}

func (e *encoder) float32s(v []float32) {
	e.uint64(uint64(len(v)))
	for _, x := range v {
		e.uint32(math.Float32bits(x))
	}
}

func (e *encoder) float64s(v []float64) {
	e.uint64(uint64(len(v)))
	for _, x := range v {
		e.float64(x)
	}
}

// A decoder takes the fields of a body off its front, in the order in which they
// were appended. The first error stays: from then on every field is empty, and
// done returns the error. No field takes memory for bytes that are not there.
type decoder struct {
	left []byte
	err  error
}

// fail keeps the first error.
func (d *decoder) fail(err error) {
	if d.err == nil {
		d.left, d.err = nil, err
	}
}

// take returns the next n bytes, without a copy; nil when there are fewer.
func (d *decoder) take(field string, n uint64) []byte {
	if uint64(len(d.left)) < n {
		d.fail(refuse(field, "the message ends too early"))
		return nil
	}
	out := d.left[:n]
	d.left = d.left[n:]
	return out
}

func (d *decoder) uint32(field string) uint32 {
	if b := d.take(field, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) uint64(field string) uint64 {
	if b := d.take(field, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// whole reads a number from 0 to limit, which fits in an int of any machine if
// limit does.
func (d *decoder) whole(field string, limit int) int {
	v := d.uint64(field)
	if v > uint64(limit) {
		d.fail(refuse(field, "%d, at most %d is allowed", v, limit))
		return 0
	}
	return int(v)
}

// float64 reads a number that may be NaN or infinite: that is for the message
// to refuse.
func (d *decoder) float64(field string) float64 { return math.Float64frombits(d.uint64(field)) }

// fixed fills dst.
func (d *decoder) fixed(field string, dst []byte) { copy(dst, d.take(field, uint64(len(dst)))) }

// items returns the bytes of a slice of items of the given size, which are
// there.
func (d *decoder) items(field string, size int) []byte {
	n := d.uint64(field)
	if n > uint64(len(d.left)/size) {
		d.fail(refuse(field, "%d items in %d bytes", n, len(d.left)))
		return nil
	}
	return d.take(field, n*uint64(size))
}

// bytes returns what the encoder's bytes appended, without a copy.
func (d *decoder) bytes(field string) []byte { return d.items(field, 1) }

func (d *decoder) int32s(field string) []int32 {
	b := d.items(field, 4)
	out := make([]int32, len(b)/4)
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func (d *decoder) uint32s(field string) []uint32 {
	b := d.items(field, 4)
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

func (d *decoder) float32s(field string) []float32 {
	b := d.items(field, 4)
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func (d *decoder) float64s(field string) []float64 {
	b := d.items(field, 8)
	out := make([]float64, len(b)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return out
}

// done returns the first error, and refuses bytes that no field has taken.
func (d *decoder) done() error {
	if d.err == nil && len(d.left) > 0 {
		d.fail(refuse("", "%d bytes follow the last field", len(d.left)))
	}
	return d.err
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

// allFinite tells whether no entry is NaN or infinite.
func allFinite[T float32 | float64](v []T) bool {
	for _, x := range v {
		if x-x != 0 {
			return false
		}
	}
	return true
}
