package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"
)

const testKind, testVersion = 900, 3

// reseal puts a right checksum behind a frame that was changed.
func reseal(frame []byte) []byte {
	frame = bytes.Clone(frame[:len(frame)-sha256.Size])
	sum := sha256.Sum256(frame)
	return append(frame, sum[:]...)
}

func sealed(t testing.TB, body []byte) []byte {
	t.Helper()
	frame, err := seal(testKind, testVersion, body)
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

func TestFieldsComeBack(t *testing.T) {
	var e encoder
	e.uint32(7)
	e.uint64(math.MaxUint64)
	e.uint64(12)
	e.float64(-0.5)
	e.fixed([]byte{1, 2})
	e.bytes([]byte{3})
	e.int32s([]int32{-1, math.MaxInt32})
	e.uint32s([]uint32{math.MaxUint32})
	e.float32s([]float32{1.5, -2})
	e.float64s([]float64{math.Pi})
	d, err := open(testKind, testVersion, sealed(t, e.body))
	if err != nil {
		t.Fatal(err)
	}
	pair := make([]byte, 2)
	got := []any{d.uint32("a"), d.uint64("b"), d.whole("c", 12), d.float64("d")}
	d.fixed("e", pair)
	got = append(got, pair, d.bytes("f"), d.int32s("h"), d.uint32s("i"), d.float32s("j"), d.float64s("k"))
	want := []any{uint32(7), uint64(math.MaxUint64), 12, -0.5, []byte{1, 2}, []byte{3},
		[]int32{-1, math.MaxInt32}, []uint32{math.MaxUint32}, []float32{1.5, -2}, []float64{math.Pi}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if err := d.done(); err != nil {
		t.Error(err)
	}
}

func TestFieldsThatAreNotThere(t *testing.T) {
	long := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	for name, c := range map[string]struct {
		body []byte
		read func(*decoder)
	}{
		"short number":       {[]byte{1}, func(d *decoder) { d.uint32("x") }},
		"short word":         {[]byte{1}, func(d *decoder) { d.uint64("x") }},
		"short fixed":        {[]byte{1}, func(d *decoder) { d.fixed("x", make([]byte, 2)) }},
		"number too large":   {long, func(d *decoder) { d.whole("x", math.MaxInt32) }},
		"more items than 64": {long, func(d *decoder) { d.float64s("x") }},
		"more float32 items": {long, func(d *decoder) { d.float32s("x") }},
		"more int32 items":   {long, func(d *decoder) { d.int32s("x") }},
		"more uint32 items":  {long, func(d *decoder) { d.uint32s("x") }},
		"more bytes":         {long, func(d *decoder) { d.bytes("x") }},
		"bytes follow":       {[]byte{1}, func(d *decoder) {}},
	} {
		d := &decoder{left: c.body}
		c.read(d)
		err := d.done()
		if !errors.Is(err, ErrMessage) {
			t.Errorf("%s: error %v", name, err)
		}
		// The first error stays, and later fields are empty.
		if v := d.uint32("later"); v != 0 || d.done() != err {
			t.Errorf("%s: went on", name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	frame := sealed(t, []byte("body"))
	changed := func(at int, to byte) []byte {
		out := bytes.Clone(frame)
		out[at] = to
		return out
	}
	for name, c := range map[string]struct {
		frame []byte
		want  error
	}{
		"nothing":       {nil, ErrMessage},
		"other magic":   {reseal(changed(0, 'Q')), ErrMessage},
		"other kind":    {reseal(changed(4, 1)), ErrMessage},
		"other version": {reseal(changed(6, 1)), ErrVersion},
		"longer":        {reseal(changed(8, 200)), ErrMessage},
		"shorter":       {reseal(changed(8, 1)), ErrMessage},
		"huge":          {reseal(changed(15, 255)), ErrMessage},
		"truncated":     {frame[:len(frame)-1], ErrMessage},
		"followed":      {append(bytes.Clone(frame), 0), ErrMessage},
		"body changed":  {changed(headSize, 'B'), ErrChecksum},
		"sum changed":   {changed(len(frame)-1, frame[len(frame)-1]+1), ErrChecksum},
	} {
		if _, err := open(testKind, testVersion, c.frame); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
	if kind, err := KindOf(frame); kind != testKind || err != nil {
		t.Errorf("kind %d, %v", kind, err)
	}
}

func TestErrorsNameTheField(t *testing.T) {
	err := refuse("rows", "%d of them", 3)
	if got := err.Error(); got != "wire: not a valid message: rows: 3 of them" {
		t.Errorf("%q", got)
	}
	var e *Error
	if !errors.As(err, &e) || e.Field != "rows" {
		t.Errorf("%#v", err)
	}
}

// FuzzFrame opens what it is given and, when that is a frame, seals its body
// again: the bytes must be the same.
func FuzzFrame(f *testing.F) {
	f.Add(sealed(f, nil))
	f.Add(sealed(f, []byte("body")))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := open(testKind, testVersion, data)
		if err != nil {
			return
		}
		if again := sealed(t, d.left); !bytes.Equal(again, data) {
			t.Errorf("%x became %x", data, again)
		}
	})
}
