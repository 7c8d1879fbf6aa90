package release

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"strconv"
)

const (
	// magic begins the binary form. Its first byte is not text, and its last
	// two would be changed by a program that converts line ends.
	magic      = "\x89PMREL\r\n"
	version    = 1
	maxString  = 64
	bufferSize = 1 << 16
)

var little = binary.LittleEndian

// MarshalBinary returns the binary form, and the error of Check when there is
// one. It is a method of the value, as is MarshalJSON, so that encoders given a
// Release in place of a pointer use it too.
func (r Release) MarshalBinary() ([]byte, error) {
	var b bytes.Buffer
	b.Grow(512 + 4*len(r.Labels.Values) + 8*len(r.Grid))
	if _, err := r.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteTo writes the binary form in pieces, without a copy of the whole. When
// Check fails it writes nothing.
func (r *Release) WriteTo(w io.Writer) (int64, error) {
	if err := r.Check(); err != nil {
		return 0, err
	}
	c, sum := &counter{w: w}, sha256.New()
	if err := r.writeBody(io.MultiWriter(c, sum)); err != nil {
		return c.n, err
	}
	_, err := c.Write(sum.Sum(nil))
	return c.n, err
}

// checksum returns the SHA-256 that both forms contain.
func (r *Release) checksum() (out [sha256.Size]byte) {
	sum := sha256.New()
	r.writeBody(sum) // a hash never fails
	sum.Sum(out[:0])
	return out
}

// counter counts what is written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// writeBody writes the binary form up to the checksum.
func (r *Release) writeBody(w io.Writer) error {
	b := make([]byte, 0, bufferSize)
	b = append(b, magic...)
	b = little.AppendUint64(b, version)
	fields := r.fields()
	for _, f := range fields {
		switch p := f.value.(type) {
		case *[16]byte:
			b = append(b, p[:]...)
		case *int:
			b = little.AppendUint64(b, uint64(*p))
		case *int64:
			b = little.AppendUint64(b, uint64(*p))
		case *uint64:
			b = little.AppendUint64(b, *p)
		case *float64:
			b = little.AppendUint64(b, math.Float64bits(*p))
		}
	}
	for _, f := range fields {
		if p, ok := f.value.(*string); ok {
			b = append(b, byte(len(*p)))
			b = append(b, *p...)
		}
	}
	if _, err := w.Write(b); err != nil {
		return err
	}
	for _, f := range fields {
		var err error
		switch p := f.value.(type) {
		case *[]int32:
			err = writeSlice(w, b, *p, func(b []byte, v int32) []byte { return little.AppendUint32(b, uint32(v)) })
		case *[]int64:
			err = writeSlice(w, b, *p, func(b []byte, v int64) []byte { return little.AppendUint64(b, uint64(v)) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeSlice writes the values through the memory of b.
func writeSlice[T any](w io.Writer, b []byte, values []T, add func([]byte, T) []byte) error {
	for len(values) > 0 {
		n := min(len(values), bufferSize/8)
		b = b[:0]
		for _, v := range values[:n] {
			b = add(b, v)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

// UnmarshalBinary reads the binary form. When it fails, r is unchanged; the
// error is an *Error.
func (r *Release) UnmarshalBinary(data []byte) error {
	return r.readBinary(bytes.NewReader(data), int64(len(data)))
}

// Read reads a release in either form, and nothing may follow it. Memory grows
// with the data from src; bound it with an io.LimitedReader where src may be
// endless. Errors are those of src or an *Error.
func Read(src io.Reader) (*Release, error) {
	in := bufio.NewReaderSize(src, bufferSize)
	first, err := in.Peek(1)
	if err != nil {
		return nil, readError(err)
	}
	r := new(Release)
	switch first[0] {
	case magic[0]:
		err = r.readBinary(in, -1)
	case '{', ' ', '\t', '\r', '\n':
		err = r.readJSON(in)
	default:
		err = refuse("", "the data do not begin like a release")
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// readError returns the error of a reader, and an *Error for data that end too
// early.
func readError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse("", "the data end too early")
	}
	return fmt.Errorf("release: read: %w", err)
}

// readBinary sets r to the contents of in. size is their number of bytes, -1
// when it is not known.
func (r *Release) readBinary(in io.Reader, size int64) error {
	d := &decoder{in: in, sum: sha256.New(), left: size}
	var out Release
	if err := d.body(&out); err != nil {
		return err
	}
	want, got := d.sum.Sum(nil), make([]byte, sha256.Size)
	if err := d.fill(got); err != nil {
		return err
	}
	if !bytes.Equal(want, got) {
		return &Error{Detail: "the data were changed", Err: errChecksum}
	}
	switch _, err := io.ReadFull(in, got[:1]); {
	case err == nil:
		return refuse("", "bytes follow the release")
	case err != io.EOF:
		return readError(err)
	}
	if err := out.Check(); err != nil {
		return err
	}
	*r = out
	return nil
}

// decoder reads the binary form and adds up its checksum.
type decoder struct {
	in   io.Reader
	sum  hash.Hash
	left int64 // bytes that can still come, negative when not known
}

func (d *decoder) body(r *Release) error {
	head := make([]byte, len(magic))
	if err := d.fill(head); err != nil {
		return err
	}
	if string(head) != magic {
		return refuse("", "the data do not begin like a release")
	}
	switch v, err := d.word(); {
	case err != nil:
		return err
	case v != version:
		return versionError(strconv.FormatUint(v, 10))
	}
	fields := r.fields()
	for _, f := range fields {
		if err := d.fixed(f); err != nil {
			return err
		}
	}
	for _, f := range fields {
		if p, ok := f.value.(*string); ok {
			if err := d.text(f.name, p); err != nil {
				return err
			}
		}
	}
	count, err := entries(r.Rows, r.Columns)
	if err != nil {
		return err
	}
	if private := r.Sensitivity.Private; private < 0 || private > r.Rows {
		return refuse("sensitivity.private", "%d of %d rows", private, r.Rows)
	} else if private > 0 {
		r.Sensitivity.PrivateRows, err = readSlice(d, private, 4, func(b []byte) int32 { return int32(little.Uint32(b)) })
		if err != nil {
			return err
		}
	}
	if r.Labels.Mode == ModeRandomised {
		r.Labels.Values, err = readSlice(d, r.Rows, 4, func(b []byte) int32 { return int32(little.Uint32(b)) })
		if err != nil {
			return err
		}
	}
	r.Grid, err = readSlice(d, count, 8, func(b []byte) int64 { return int64(little.Uint64(b)) })
	return err
}

func versionError(v string) error {
	return &Error{Field: "version", Detail: fmt.Sprintf("%s, want %d", v, version), Err: errVersion}
}

// fill fills p with the next bytes.
func (d *decoder) fill(p []byte) error {
	if _, err := io.ReadFull(d.in, p); err != nil {
		return readError(err)
	}
	d.sum.Write(p)
	if d.left >= 0 {
		d.left -= int64(len(p))
	}
	return nil
}

func (d *decoder) word() (uint64, error) {
	var b [8]byte
	err := d.fill(b[:])
	return little.Uint64(b[:]), err
}

// fixed reads a field of fixed size and skips the others.
func (d *decoder) fixed(f field) error {
	var target func(v uint64)
	switch p := f.value.(type) {
	default:
		return nil
	case *[16]byte:
		return d.fill(p[:])
	case *int:
		target = func(v uint64) { *p = int(v) }
	case *int64:
		target = func(v uint64) { *p = int64(v) }
	case *uint64:
		target = func(v uint64) { *p = v }
	case *float64:
		target = func(v uint64) { *p = math.Float64frombits(v) }
	}
	v, err := d.word()
	if err != nil {
		return err
	}
	target(v)
	if p, ok := f.value.(*int); ok && uint64(*p) != v {
		return refuse(f.name, "does not fit in an int of this machine")
	}
	return nil
}

func (d *decoder) text(name string, p *string) error {
	var length [1]byte
	if err := d.fill(length[:]); err != nil {
		return err
	}
	if length[0] > maxString {
		return refuse(name, "%d bytes of text, at most %d are allowed", length[0], maxString)
	}
	b := make([]byte, length[0])
	err := d.fill(b)
	*p = string(b)
	return err
}

// readSlice reads count values of size bytes. It takes memory for all of them
// at once only when their bytes are known to be there.
func readSlice[T any](d *decoder, count, size int, get func([]byte) T) ([]T, error) {
	piece := min(count, bufferSize/size)
	out := make([]T, 0, piece)
	if d.left >= 0 {
		if d.left/int64(size) < int64(count) {
			return nil, readError(io.ErrUnexpectedEOF)
		}
		out = make([]T, 0, count)
	}
	b := make([]byte, piece*size)
	for len(out) < count {
		b = b[:min(count-len(out), piece)*size]
		if err := d.fill(b); err != nil {
			return nil, err
		}
		for i := 0; i < len(b); i += size {
			out = append(out, get(b[i:]))
		}
	}
	return out, nil
}
