package formats

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// memory returns a source over bytes.
func memory(data []byte) *source { return newSource(bytes.NewReader(data), int64(len(data))) }

// put writes a file into a fresh folder and returns its path.
func put(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// load returns the contents of a file.
func load(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// golden returns the path of a file made by testdata/make.py.
func golden(name string) string { return filepath.Join("testdata", name) }

// packed compresses data.
func packed(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// npyFile puts a header of the given version before a payload.
func npyFile(version byte, header, payload string) []byte {
	b := append([]byte(npyMagic), version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return append(append(b, header...), payload...)
}

// le32 and be32 encode words.
func le32(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func be32(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// wantError checks the kind of an error, that it is an *Error about path, and that its message
// names the file and holds each of the parts.
func wantError(t testing.TB, err, kind error, path string, parts ...string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("error is %v, want kind %v", err, kind)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Path != path {
		t.Fatalf("error %v does not carry the path %s", err, path)
	}
	if !strings.Contains(err.Error(), path) {
		t.Errorf("message %q lacks the path", err)
	}
	message := err.Error() // the path has the name of the test
	if path != "" {
		message = strings.ReplaceAll(message, path, "")
	}
	for _, part := range parts {
		if !strings.Contains(message, part) {
			t.Errorf("message %q lacks %q", message, part)
		}
	}
}

// allocated returns the bytes that f allocates in all, whether freed again or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// floats and integers are the matrices of testdata/make.py.
func floats[T float]() []T {
	a := make([]T, 12)
	for i := range a {
		a[i] = T(i)/4 - 1
	}
	return a
}

func integers[T element]() []T {
	a := make([]T, 12)
	for i := range a {
		a[i] = T(i)
	}
	return a
}
