// Command _gen packs the digits for embedding. From the folder of the package:
//
//	go run ./_gen features.npy labels.npy digits.bin.gz
//
// The inputs are NumPy files in C order: features 1797 x 64 of '<f4' with whole
// values 0..16, labels 1797 of '<i4' with values 0..9.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"log"
	"math"
	"os"
	"strings"
)

const images, pixels = 1797, 64

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: _gen features.npy labels.npy out.bin.gz")
	}
	if err := pack(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func pack(features, labels, out string) error {
	x, err := payload(features, "<f4", fmt.Sprintf("(%d, %d)", images, pixels), images*pixels)
	if err != nil {
		return err
	}
	y, err := payload(labels, "<i4", fmt.Sprintf("(%d,)", images), images)
	if err != nil {
		return err
	}
	raw := make([]byte, 0, images*pixels+images)
	for i, w := range x {
		v := math.Float32frombits(w)
		if v != float32(math.Trunc(float64(v))) || v < 0 || v > 16 {
			return fmt.Errorf("%s: entry %d is not a whole number from 0 to 16", features, i)
		}
		raw = append(raw, byte(v))
	}
	for i, w := range y {
		if w > 9 {
			return fmt.Errorf("%s: entry %d is not from 0 to 9", labels, i)
		}
		raw = append(raw, byte(w))
	}

	// No name and no time in the header: the same input gives the same file.
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(raw); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(out, packed.Bytes(), 0o644)
}

// payload returns the 32-bit words of a version 1 .npy file of the given type
// and shape.
func payload(name, descr, shape string, words int) ([]uint32, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if len(b) < 10 || string(b[:8]) != "\x93NUMPY\x01\x00" {
		return nil, fmt.Errorf("%s: not a version 1 .npy file", name)
	}
	start := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	if len(b) != start+4*words {
		return nil, fmt.Errorf("%s: %d bytes, want %d", name, len(b), start+4*words)
	}
	header := string(b[10:start])
	for _, want := range []string{"'descr': '" + descr + "'", "'fortran_order': False", "'shape': " + shape} {
		if !strings.Contains(header, want) {
			return nil, fmt.Errorf("%s: header lacks %s", name, want)
		}
	}
	w := make([]uint32, words)
	for i := range w {
		w[i] = binary.LittleEndian.Uint32(b[start+4*i:])
	}
	return w, nil
}
