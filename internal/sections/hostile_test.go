package sections

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// whole opens bytes and compares all checksums.
func whole(t testing.TB, data []byte) error {
	f, err := Parse("file", data)
	if err != nil {
		return err
	}
	return f.VerifyAll(t.Context(), nil)
}

// A file truncated anywhere, or with bytes after its end, is refused when it is opened.
// Verify, if not Open, finds a changed byte.
func TestDamageIsFound(t *testing.T) {
	path := sample(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := whole(t, data); err != nil {
		t.Fatal(err)
	}
	for n := range data {
		if _, err := Parse("file", data[:n]); n < 8 && !errors.Is(err, ErrForeign) || n >= 8 && !errors.Is(err, ErrDamaged) {
			t.Errorf("the first %d of %d bytes: %v", n, len(data), err)
		}
	}
	if _, err := Parse("file", append(bytes.Clone(data), 0)); !errors.Is(err, ErrDamaged) {
		t.Errorf("a byte more: %v", err)
	}
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			want := ErrDamaged
			switch {
			case i < 8:
				want = ErrForeign
			case i < 12:
				want = ErrVersion
			}
			if err := whole(t, data); !errors.Is(err, want) {
				t.Errorf("bit %d of byte %d: %v", bit, i, err)
			}
			data[i] ^= 1 << bit
		}
	}
}

// build makes a file with correct checksums and a table that may be wrong.
func build(body []byte, table []section) []byte {
	data := append(appendHead(nil, "k", 1), body...)
	head, offset := bytes.Clone(data), int64(len(data))
	raw := appendTable(nil, table)
	return appendTail(append(data, raw...), head[:headSize], raw, offset)
}

// Files with correct checksums and wrong tables are refused.
func TestHostileTables(t *testing.T) {
	body := make([]byte, 256)
	if err := whole(t, build(nil, nil)); err != nil {
		t.Errorf("no sections: %v", err)
	}
	for name, table := range map[string][]section{
		"a gap":                 {{name: "a", offset: 128, length: 64}},
		"overlapping":           {{name: "a", offset: 64, length: 128}, {name: "b", offset: 128, length: 192}},
		"the same place":        {{name: "a", offset: 64, length: 256}, {name: "b", offset: 64, length: 256}},
		"in the head":           {{name: "a", offset: 0, length: 320}},
		"beyond the table":      {{name: "a", offset: 64, length: 257}},
		"beyond the file":       {{name: "a", offset: 64, length: 1 << 40}},
		"back to the head":      {{name: "a", offset: 64, length: -64}, {name: "b", offset: 0, length: 320}},
		"negative":              {{name: "a", offset: 64, length: -64}},
		"a negative offset":     {{name: "a", offset: -64, length: 64}},
		"too short":             {{name: "a", offset: 64, length: 10}},
		"not aligned":           {{name: "a", offset: 65, length: 255}},
		"a name twice":          {{name: "a", offset: 64, length: 64}, {name: "a", offset: 128, length: 192}},
		"no name":               {{name: "", offset: 64, length: 256}},
		"a strange name":        {{name: "../a", offset: 64, length: 256}},
		"nothing":               nil,
		"out of order":          {{name: "a", offset: 192, length: 128}, {name: "b", offset: 64, length: 128}},
		"empty beyond the file": {{name: "a", offset: 64, length: 256}, {name: "b", offset: 384, length: 0}},
	} {
		if _, err := Parse("file", build(body, table)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := make([]section, mostSections+1)
	for i := range many {
		many[i] = section{name: fmt.Sprint(i), offset: 64}
	}
	if _, err := Parse("file", build(nil, many)); !errors.Is(err, ErrDamaged) {
		t.Errorf("%d sections: %v", len(many), err)
	}
	short := build(body, []section{{name: "a", offset: 64, length: 256}})
	cut := bytes.Clone(short[:len(short)-tailSize-1]) // within the table
	raw := cut[320:]
	if _, err := Parse("file", appendTail(cut, short[:64], raw, 320)); !errors.Is(err, ErrDamaged) {
		t.Errorf("an entry that ends early: %v", err)
	}
	for _, at := range []int{len(short) - tailSize, len(short) - tailSize + 8} {
		wrong := bytes.Clone(short)
		binary.LittleEndian.PutUint64(wrong[at:], 1<<63)
		if _, err := Parse("file", wrong); !errors.Is(err, ErrDamaged) {
			t.Errorf("an absurd number at %d: %v", at, err)
		}
	}
	for less := range uint64(tailSize + 1) { // a negative length with an offset that compensates for it
		wrong := bytes.Clone(short)
		tail := wrong[len(wrong)-tailSize:]
		binary.LittleEndian.PutUint64(tail, uint64(len(wrong))-tailSize+less)
		binary.LittleEndian.PutUint64(tail[8:], -less)
		if _, err := Parse("file", wrong); !errors.Is(err, ErrDamaged) {
			t.Errorf("a table of -%d bytes: %v", less, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	folder, path := t.TempDir(), sample(t)
	if _, err := Open(path, "model"); !errors.Is(err, ErrKind) {
		t.Errorf("another kind: %v", err)
	}
	if _, err := Open(filepath.Join(folder, "none"), ""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := Open(folder, ""); !errors.Is(err, ErrForeign) {
		t.Errorf("a folder: %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]error{
		"": ErrForeign, "\x93NUMPY and so on": ErrForeign, string(data[:20]): ErrDamaged, string(data[:100]): ErrDamaged,
		string(data[:len(data)-1]): ErrDamaged,
	} {
		file := filepath.Join(folder, "file")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(file, "sample"); !errors.Is(err, want) {
			t.Errorf("%d bytes: %v, want %v", len(text), err, want)
		}
	}
}

// No bytes make a reader panic, and all errors are of a known kind.
func FuzzOpen(f *testing.F) {
	data, err := os.ReadFile(sample(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(build(nil, nil))
	f.Add(build(make([]byte, 64), []section{{name: "a", offset: 64, length: 64}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Parse("file", data)
		if err != nil {
			if !errors.Is(err, ErrForeign) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrDamaged) {
				t.Fatalf("no known kind of error: %v", err)
			}
			return
		}
		for _, name := range file.Names() {
			raw, err := file.Raw(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Verify(t.Context(), name); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			if v, err := Numbers[float64](file, name); (err == nil) != (len(raw)%8 == 0) || err == nil && 8*len(v) != len(raw) {
				t.Fatalf("%d bytes as %d numbers: %v", len(raw), len(v), err)
			}
		}
	})
}
