package entropy

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha3"
	"io"
	"strings"
	"testing"
)

// 64 bytes repeat, or stay zero, with a probability of 2^-512.
func TestSystem(t *testing.T) {
	a, b := make([]byte, 64), make([]byte, 64)
	for _, p := range [][]byte{a, b} {
		if n, err := (System{}).Read(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	if bytes.Equal(a, b) || bytes.Equal(a, make([]byte, 64)) {
		t.Error("the bytes are not random")
	}
}

func TestReplacedReader(t *testing.T) {
	standard := rand.Reader
	defer func() { rand.Reader = standard }()
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		t.Fatal(err)
	}
	known := cipher.StreamReader{S: cipher.NewCTR(block, make([]byte, 16)), R: zeros{}}
	for _, reader := range []io.Reader{
		nil, strings.NewReader("not random at all"), io.LimitReader(standard, 64), struct{ io.Reader }{standard},
		known, &known, sha3.NewSHAKE128(), // from the standard library, but the same in every run
	} {
		rand.Reader = reader
		p := make([]byte, 8)
		if n, err := (System{}).Read(p); n != 0 || err == nil || !bytes.Equal(p, make([]byte, 8)) {
			t.Errorf("%T: %d bytes, %v", reader, n, err)
		}
	}
	rand.Reader = standard
	if _, err := (System{}).Read(make([]byte, 8)); err != nil {
		t.Error(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
