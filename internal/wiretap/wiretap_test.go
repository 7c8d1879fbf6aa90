package wiretap

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"testing"
)

func TestTap(t *testing.T) {
	tap := Listen(t)
	dial := func() (here, there net.Conn) {
		here, err := net.Dial("tcp", tap.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if there, err = tap.Accept(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { here.Close(); there.Close() })
		return here, there
	}
	say := func(from, to net.Conn, text string) {
		t.Helper()
		if _, err := from.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(to, make([]byte, len(text))); err != nil {
			t.Fatal(err)
		}
	}
	want := func(came, went string) {
		t.Helper()
		if got := fmt.Sprintf("%s", tap.Came()); got != came {
			t.Errorf("came %s, want %s", got, came)
		}
		if got := fmt.Sprintf("%s", tap.Went()); got != went {
			t.Errorf("went %s, want %s", got, went)
		}
	}
	a, b := dial()
	say(a, b, "one")
	say(b, a, "two")
	c, d := dial()
	say(c, d, "three")
	want("[one three]", "[two ]")
	tap.Forget()
	say(c, d, "four")
	want("[ four]", "[ ]")
}

// Numbers are found in any form and at any place.
func TestTraces(t *testing.T) {
	row := []float64{0.12345678901, -0.7654321098, 0.0314159265, 1.41421356237}
	traces := Traces(row)
	var ways = map[string][]byte{"nothing": []byte("other bytes that have nothing of a row in them")}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		var halves, singles, doubles []byte
		for _, v := range row {
			halves = order.AppendUint16(halves, half(v))
			singles = order.AppendUint32(singles, math.Float32bits(float32(v)))
			doubles = order.AppendUint64(doubles, math.Float64bits(v))
		}
		for name, b := range map[string][]byte{"16": halves, "32": singles, "64": doubles} {
			for shift := range 4 {
				b := append(make([]byte, shift), b...)
				name := fmt.Sprint(name, " ", order, " ", shift)
				ways[name] = b
				ways[name+" hex"] = []byte(hex.EncodeToString(b))
				ways[name+" HEX"] = fmt.Appendf(nil, "%X", b)
				ways[name+" base64"] = []byte(base64.StdEncoding.EncodeToString(b))
				ways[name+" base64url"] = []byte(base64.URLEncoding.EncodeToString(b))
			}
		}
	}
	text, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	ways["json"] = text
	ways["json of float32"], _ = json.Marshal([]float32{float32(row[0])})
	ways["print"] = fmt.Appendf(nil, "%g %.8f", row[1], row[2])
	for name, b := range ways {
		if got := Find(b, traces); (got == "") != (name == "nothing") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestHalf(t *testing.T) {
	for v, want := range map[float64]uint16{1: 0x3c00, -2: 0xc000, 0.5: 0x3800, 65504: 0x7bff, 0.333251953125: 0x3555, 0: 0, 1e-9: 0, 2047.9999: 0x6800} {
		if got := half(v); got != want {
			t.Errorf("%g: %#x, want %#x", v, got, want)
		}
	}
}
