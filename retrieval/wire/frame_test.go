package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"
)

var testFormat = format{900, 3, newSHA256}

// reseal puts a right checksum behind a frame that was changed.
func reseal(frame []byte) []byte {
	frame = bytes.Clone(frame[:len(frame)-sha256.Size])
	sum := sha256.Sum256(frame)
	return append(frame, sum[:]...)
}

// seal returns the frame of any body.
func seal(t testing.TB, f format, body []byte) []byte {
	t.Helper()
	var frame bytes.Buffer
	if n, err := writeBody(&frame, f, int64(len(body)), func(e *encoder) { e.fixed(body) }); err != nil || n != int64(frame.Len()) {
		t.Fatal(n, err)
	}
	return frame.Bytes()
}

func sealedFrame(t testing.TB, body []byte) []byte { t.Helper(); return seal(t, testFormat, body) }

// encoded returns the body that encode writes, with the mask of asked if there is one.
func encoded(t *testing.T, asked []byte, encode func(*encoder)) []byte {
	t.Helper()
	var out appender
	e := newEncoder(&out, newSHA256())
	if asked != nil {
		e.cover(newMask(asked))
	}
	encode(e)
	if _, err := e.finish(); err != nil {
		t.Fatal(err)
	}
	e.close()
	return out.b[:len(out.b)-sha256.Size]
}

func TestFieldsComeBack(t *testing.T) {
	const many = pieceSize // numbers, a few pieces of them
	long := make([]float32, many+3)
	for i := range long {
		long[i] = float32(i)
	}
	fields := func(e *encoder) {
		e.uint64(math.MaxUint64)
		e.uint64(12)
		e.fixed([]byte{1, 2})
		e.bytes([]byte{3})
		encodeSlice(e, []int16{-1, math.MaxInt16})
		encodeSlice(e, []uint32{math.MaxUint32})
		encodeSlice(e, long)
		encodeSlice(e, []int8{-127})
		encodeNumbers(e, []uint16{math.MaxUint16, 5})
	}
	for _, asked := range [][]byte{nil, {1}} {
		d := &decoder{left: encoded(t, asked, fields)}
		if asked != nil {
			d.mask = newMask(asked)
		}
		pair, one := make([]byte, 2), make([]byte, 1)
		got := []any{d.uint64("a"), d.whole("b", 12)}
		d.fixed("c", pair)
		d.uncover(one, d.bytes("d"))
		got = append(got, pair, one, decodeSlice[int16](d, "e"), decodeSlice[uint32](d, "f"), decodeSlice[float32](d, "g"),
			decodeSlice[int8](d, "h"), decodeNumbers[uint16](d, d.take("i", 4)))
		want := []any{uint64(math.MaxUint64), 12, []byte{1, 2}, []byte{3}, []int16{-1, math.MaxInt16}, []uint32{math.MaxUint32},
			long, []int8{-127}, []uint16{math.MaxUint16, 5}}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("masked by %v: got %v, want %v", asked, got, want)
		}
		if err := d.done(); err != nil {
			t.Error(err)
		}
	}
}

// The bytes are those of encoding/binary, on machines of either byte order. Told that
// it has the other order, this machine writes and reads the bytes the other way round.
func TestByteOrder(t *testing.T) {
	numbers := make([]float32, pieceSize)
	var little, big []byte
	for i := range numbers {
		numbers[i] = float32(i) + 0.1
		little = binary.LittleEndian.AppendUint32(little, math.Float32bits(numbers[i]))
		big = binary.BigEndian.AppendUint32(big, math.Float32bits(numbers[i]))
	}
	encode := func(e *encoder) { encodeNumbers(e, numbers) }
	if !bytes.Equal(encoded(t, nil, encode), little) {
		t.Error("not the bytes of encoding/binary")
	}
	hostBig = !hostBig
	defer func() { hostBig = !hostBig }()
	if !bytes.Equal(encoded(t, nil, encode), big) {
		t.Error("the other order: not the bytes of encoding/binary")
	}
	if got := decodeNumbers[float32](new(decoder), big); !slices.Equal(got, numbers) {
		t.Error("the other order does not come back")
	}
	masked := &decoder{mask: newMask([]byte{1})}
	if got := decodeNumbers[float32](masked, encoded(t, []byte{1}, encode)); !slices.Equal(got, numbers) {
		t.Error("the other order does not come back from behind a mask")
	}
}

func TestAllFinite(t *testing.T) {
	const largest, smallest = math.MaxFloat32, math.SmallestNonzeroFloat32
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for n := range 23 {
		v := make([]float32, n)
		for i := range v {
			v[i] = []float32{largest, -largest, smallest, -smallest, 0, 1}[i%6]
		}
		if !allFinite(v) {
			t.Errorf("%d numbers", n)
		}
		for i := range v {
			kept := v[i]
			for _, bad := range []float32{nan, -nan, inf, -inf} {
				v[i] = bad
				if allFinite(v) {
					t.Errorf("%g at %d of %d", bad, i, n)
				}
			}
			v[i] = kept
		}
	}
}

func TestFieldsThatAreNotThere(t *testing.T) {
	long := binary.LittleEndian.AppendUint64(nil, math.MaxUint64)
	for name, c := range map[string]struct {
		body []byte
		read func(*decoder)
	}{
		"short word":         {[]byte{1}, func(d *decoder) { d.uint64("x") }},
		"short fixed":        {[]byte{1}, func(d *decoder) { d.fixed("x", make([]byte, 2)) }},
		"number too large":   {long, func(d *decoder) { d.whole("x", math.MaxInt32) }},
		"more int8 items":    {long, func(d *decoder) { decodeSlice[int8](d, "x") }},
		"more float32 items": {long, func(d *decoder) { decodeSlice[float32](d, "x") }},
		"more int16 items":   {long, func(d *decoder) { decodeSlice[int16](d, "x") }},
		"more uint32 items":  {long, func(d *decoder) { decodeSlice[uint32](d, "x") }},
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
		if v := d.uint64("later"); v != 0 || d.done() != err {
			t.Errorf("%s: went on", name)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	frame := sealedFrame(t, []byte("body"))
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
		if _, err := open(testFormat, c.frame); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
	if kind, err := kindOf(frame); kind != testFormat.kind || err != nil {
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
	f.Add(sealedFrame(f, nil))
	f.Add(sealedFrame(f, []byte("body")))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := open(testFormat, data)
		if err != nil {
			return
		}
		if again := sealedFrame(t, d.left); !bytes.Equal(again, data) {
			t.Errorf("%x became %x", data, again)
		}
	})
}
