package wire

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// A changed byte is found, wherever it is, and two messages in a row are not a message. The message
// that was to be read stays as it was.
func TestChangedMessages(t *testing.T) {
	for name, m := range cellsMessages() {
		frame, err := m[0].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for at := range frame {
			for flip := 1; flip < 256; flip++ {
				frame[at] ^= byte(flip)
				if m[1].UnmarshalBinary(frame) == nil {
					t.Fatalf("%s: byte %d changed by %x, and it is read", name, at, flip)
				}
				frame[at] ^= byte(flip)
			}
		}
		if err := m[1].UnmarshalBinary(append(bytes.Clone(frame), frame...)); !errors.Is(err, ErrMessage) {
			t.Errorf("%s: twice in a row: %v", name, err)
		}
		if err := m[1].Check(); err == nil {
			t.Errorf("%s: something was read", name)
		}
	}
}

// The error says which version came and which one is read.
func TestVersionIsNamed(t *testing.T) {
	frame, err := testAnswer().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	frame[6] = 2
	err = new(CellsAnswer).UnmarshalBinary(frame)
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "version: 2; this program reads 3") {
		t.Error(err)
	}
}

// A liar says that it took some other number of bytes than it was given.
type liar struct{ off int }

func (l liar) Write(p []byte) (int, error) { return len(p) + l.off, nil }

func TestWritersThatLie(t *testing.T) {
	for _, off := range []int{1, math.MaxInt32, math.MinInt32} {
		n, err := testAnswer().WriteTo(liar{off})
		if err == nil || n != 0 || errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%d bytes off: %d, %v", off, n, err)
		}
	}
}

// What is cut off is told from what never was a message.
func TestKindOfSaysWhy(t *testing.T) {
	for text, frame := range map[string]string{"do not begin": "GET / HTTP/1.1", "cut off": magic + "abc"} {
		if _, err := kindOf([]byte(frame)); !errors.Is(err, ErrMessage) || !strings.Contains(err.Error(), text) {
			t.Errorf("%q: %v", frame, err)
		}
	}
}
