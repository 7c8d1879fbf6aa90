package formats

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/longtest"
)

// Marks are put into files to see whether a message shows them. No message has four consecutive
// bytes of a mark for another reason: no word has these letters, and counts of the small files
// here have fewer digits. Bytes of letters are large: as a number of 4 or 8 bytes they are far
// from any count, in either byte order.
const (
	letters = "VXZQWYZQ"
	digits  = "7305918264"
)

// largest is the size in bytes up to which a file has no count of four digits.
const largest = 999

// sharedRun returns four or more bytes that message and body share, in upper or lower case, or "".
func sharedRun(message, body string) string {
	message, body = strings.ToLower(message), strings.ToLower(body)
	for i := range body {
		n := 3
		for i+n < len(body) && strings.Contains(message, body[i:i+n+1]) {
			n++
		}
		if n > 3 {
			return body[i : i+n]
		}
	}
	return ""
}

var numberPattern = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?`)

// sharedNumber returns a number of message that is one of 4 or 8 bytes of body, as an integer or a
// float in either byte order, or "". Numbers of fewer than four characters do not count.
func sharedNumber(message, body string) string {
	shown := numberPattern.FindAllString(message, -1)
	for i := range body {
		var values []string
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			if raw := []byte(body[i:]); len(raw) >= 4 {
				w := order.Uint32(raw)
				values = append(values, fmt.Sprint(w), fmt.Sprint(int32(w)), fmt.Sprint(math.Float32frombits(w)))
			}
			if raw := []byte(body[i:]); len(raw) >= 8 {
				w := order.Uint64(raw)
				values = append(values, fmt.Sprint(w), fmt.Sprint(int64(w)), fmt.Sprint(math.Float64frombits(w)))
			}
		}
		for _, v := range values {
			if v = strings.TrimPrefix(v, "-"); len(v) >= 4 && slices.Contains(shown, v) {
				return v
			}
		}
	}
	return ""
}

// sharedHex returns four or more bytes of body that message spells as digits, or "".
func sharedHex(message, body string) string {
	message = strings.ToLower(strings.ReplaceAll(message, " ", ""))
	for i := range max(0, len(body)-3) {
		if h := fmt.Sprintf("%x", body[i:i+4]); strings.Contains(message, h) {
			return h
		}
	}
	return ""
}

// TestMessagesHoldNoBody reads malformed files whose bodies would be recognised. The body is
// the part that may be private: everything except magic, version, lengths, and the names of
// keys and the shape in a .npy header.
func TestMessagesHoldNoBody(t *testing.T) {
	labels := func(path string) error { _, err := ReadLabels(path); return err }
	single := func(path string) error { _, err := ReadMatrix(path); return err }
	double := func(path string) error { _, err := ReadMatrix64(path); return err }
	csr := func(path string) error { _, err := ReadCSR(path); return err }
	head := func(descr, shape string) string {
		return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + "}"
	}
	member := func(name string, data []byte) []byte {
		m := npzMembers()
		m[name] = data
		return zipFile(t, m, zip.Store)
	}
	secret := string(le32(0x3f8ccccd, 0x41a5b6c7, 0x42c0ffee)) // 1.1, 20.7 and 96.5
	for _, c := range []struct {
		name string
		read func(path string) error
		file string
		body string // "": all of the file
	}{
		{"words.csv", labels, "Alice,Hodgkin\nBob,Crohn\n", ""},
		{"words and numbers.csv", labels, "Alice,19870211,Hodgkin\n", ""},
		{"numbers.csv", labels, "7305918264,8264\n", ""},
		{"words.tsv", labels, "Alice\tHodgkin\n", ""},
		{"words.txt", labels, "Alice Hodgkin\n", ""},
		{"word.csv", labels, "label\nHodgkin\n", "Hodgkin"},
		{"large.csv", labels, "label\n7305918264\n", "7305918264"},
		{"fraction.csv", labels, "label\n73059.18264\n", "73059.18264"},
		{"quotes.csv", labels, "id,label\n\"Hodgkin,2\n", "\"Hodgkin,2"},
		{"first quotes.csv", labels, "\"Hodgkin,2\n", ""},
		{"fewer columns.csv", labels, "id,label\nHodgkin\n", "Hodgkin"},
		{"no gzip.csv.gz", labels, "Hodgkin,Crohn,1\n", ""},
		{"unknown.dat", labels, "Hodgkin,Crohn\n", ""},

		{"no magic.npy", single, "Hodgkin,Crohn\n", ""},
		{"key.npy", single, string(npyFile(1, "{'Hodgkin': 7305918264}", "")), "Hodgkin': 7305918264}"},
		{"no order.npy", single, string(npyFile(1, head("Hodgkin", "(1,)"), "")), "Hodgkin"},
		{"unknown type.npy", single, string(npyFile(1, head("<Hodgkin", "(1,)"), "")), "Hodgkin"},
		{"text.npy", labels, string(npyFile(1, head("<U7", "(1,)"), "Hodgkin")), "Hodgkin"},
		{"bare text.npy", single, string(npyFile(1, "Hodgkin", "")), "Hodgkin"},
		{"wide label.npy", labels, string(npyFile(1, head("<i8", "(1,)"), secret[:8])), secret[:8]},
		{"wide value.npy", single, string(npyFile(1, head("<f8", "(1,)"), "Hodgkin~")), "Hodgkin~"},
		{"behind.npy", double, string(npyFile(1, head("<f4", "(1,)"), secret)), secret},

		{"no header.fvecs", single, secret, ""},
		{"no header.bvecs", single, secret, ""},
		{"second row.fvecs", single, string(le32(1)) + secret, secret},
		{"second row.ivecs", labels, string(le32(1)) + secret, secret},
		{"negative.fvecs", single, string(le32(0xc1a5b6c7)) + secret, string(le32(0xc1a5b6c7))},
		{"other row.fvecs", single, string(le32(1234)) + strings.Repeat("\x00", 2*4*1234+4), string(le32(1234))},
		{"one row.ivecs", labels, string(append(le32(1234), make([]byte, 4*1234)...)), string(le32(1234))},
		{"last row.fvecs", single, string(le32(2)) + secret[4:] + string(le32(2)) + secret[:7], secret[:7]},
		{"no header.fbin", single, secret, ""},
		{"no header.u8bin", double, secret, ""},
		{"no header.ibin", labels, secret, ""},
		{"no header.fbin.gz", single, string(packed(t, []byte(secret))), secret},
		{"no columns.fbin", single, secret[:4] + "\x00\x00\x00\x00", secret[:4]},
		{"no rows.fbin", single, "\x00\x00\x00\x00\x00\x00\x00\xc0" + "", "\x00\x00\x00\xc0"},
		{"columns.ibin.gz", labels, string(packed(t, append(le32(1, 1234), make([]byte, 4*1234)...))), string(le32(1, 1234))},

		{"no magic.idx", single, secret, ""},
		{"no magic.idx.gz", labels, string(packed(t, []byte(secret))), secret},
		{"behind.idx", single, string(idxFile(0x0d, []uint32{1}, []byte(secret)...)), secret},
		{"wide value.idx", single, string(idxFile(0x0e, []uint32{1}, []byte("Hodgkin~")...)), "Hodgkin~"},

		{"no archive.npz", csr, "Hodgkin,Crohn\n", ""},
		{"form.npz", csr, string(member("format.npy", npyFile(1, head("|S7", "()"), "Hodgkin"))), "Hodgkin"},
		{"indptr.npz", csr, string(member("indptr.npy", npyFile(1, head("<i4", "(3,)"), secret))), secret},
		{"index.npz", csr, string(member("indices.npy", npyFile(1, head("<i8", "(1,)"), "Hodgkin~"))), "Hodgkin~"},
		{"value.npz", csr, string(member("data.npy", npyFile(1, head("<f8", "(1,)"), "Hodgkin~"))), "Hodgkin~"},
		{"names.npz", csr, string(zipTwice(t, "Hodgkin")), "Hodgkin"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.body == "" {
				c.body = c.file
			} else if !strings.HasSuffix(c.name, ".gz") && !strings.Contains(c.file, c.body) {
				t.Fatal("the file does not have the body")
			}
			path := put(t, c.name, []byte(c.file))
			err := c.read(path)
			if err == nil {
				t.Fatal("the file is read")
			}
			message := strings.ReplaceAll(err.Error(), path, "")
			for _, shown := range []string{sharedRun(message, c.body), sharedNumber(message, c.body), sharedHex(message, c.body)} {
				if shown != "" {
					t.Errorf("%q shows %q", message, shown)
				}
			}
		})
	}
}

// silentReader reads a file of one format in every way that it can be read.
type silentReader struct {
	read func(t testing.TB, file []byte) []error
	body func(file []byte) int // numbers from this offset on are values
	text bool                  // numbers are written in digits
}

// silentReaders has every format, by names that tests use.
func silentReaders() map[string]silentReader {
	whole := func([]byte) int { return 0 }
	none := func(file []byte) int { return len(file) }
	array := func(f format, body func([]byte) int) silentReader {
		return silentReader{func(_ testing.TB, file []byte) []error {
			_, single := readDense[float32](memory(file), f)
			_, double := readDense[float64](memory(file), f)
			_, labels := readLabels(context.Background(), memory(file), f, new(TableSettings), true)
			return []error{single, double, labels}
		}, body, false}
	}
	text := func(read func(*source) error) silentReader {
		return silentReader{func(_ testing.TB, file []byte) []error { return []error{read(memory(file))} }, whole, true}
	}
	readers := map[string]silentReader{
		".npy": array(format{family: npyFamily}, npyBody),
		".idx": array(format{family: idxFamily}, idxBody),
		".idx.gz": {func(_ testing.TB, file []byte) []error {
			s, err := newGzipSource(bytes.NewReader(file), int64(len(file)))
			if err == nil {
				_, err = readDense[float32](s, format{family: idxFamily})
			}
			return []error{err}
		}, none, false},
		".npz": {func(_ testing.TB, file []byte) []error {
			_, err := readCSR(bytes.NewReader(file), int64(len(file)))
			return []error{err}
		}, none, false},
	}
	for _, f := range arrayFormats {
		if f.kind != noKind {
			readers[f.suffix] = array(f, whole)
		}
	}
	for _, suffix := range []string{".csv", ".tsv", ".txt"} {
		readers[suffix] = text(func(s *source) error {
			_, err := readLabelText(context.Background(), s, suffix, new(TableSettings), false)
			return err
		})
	}
	for _, suffix := range []string{".csv", ".tsv", ".txt"} {
		readers["table"+suffix] = text(func(s *source) error {
			_, err := readTable(context.Background(), newRecords(s, suffix), new(TableSettings))
			return err
		})
	}
	readers["arrays.npz"] = silentReader{func(_ testing.TB, file []byte) []error {
		features := readMember(bytes.NewReader(file), int64(len(file)), "", featureArrays, func(s *source, f format) error {
			_, err := readDense[float32](s, f)
			return err
		})
		labels := readMember(bytes.NewReader(file), int64(len(file)), "", labelArrays, func(s *source, f format) error {
			_, err := readLabels(context.Background(), s, f, new(TableSettings), true)
			return err
		})
		return []error{features, labels}
	}, none, false}
	for name := range npzMembers() {
		body := npyBody
		if name == "shape.npy" {
			body = none // the matrix's dimensions
		}
		readers[".npz "+name] = silentReader{func(t testing.TB, file []byte) []error {
			m := npzMembers()
			m[name] = file
			archive := zipFile(t, m, zip.Store)
			_, err := readCSR(bytes.NewReader(archive), int64(len(archive)))
			return []error{err}
		}, body, false}
	}
	return readers
}

// npyBody and idxBody return where values begin, after lengths, versions and dimensions.
func npyBody(file []byte) int {
	s := memory(file)
	if _, err := readNPYDict(s); err != nil {
		return 12
	}
	return int(s.off)
}

func idxBody(file []byte) int {
	if len(file) < 4 {
		return len(file)
	}
	return 4 + 4*int(file[3])
}

// checkSilent puts marks at an offset of file, between its bytes or replacing them, and checks
// that no message shows them.
func checkSilent(t *testing.T, r silentReader, file []byte, at int) {
	t.Helper()
	for _, mark := range []string{letters, digits} {
		if mark == digits && !r.text {
			continue // letters suffice where digits are only bytes
		}
		for _, over := range []int{0, min(len(mark), len(file)-at)} {
			marked := slices.Concat(file[:at], []byte(mark), file[at+over:])
			for _, err := range r.read(t, marked) {
				if err == nil {
					continue
				}
				shown := sharedRun(err.Error(), mark) + sharedHex(err.Error(), mark)
				if at >= r.body(marked) {
					shown += sharedNumber(err.Error(), mark)
				}
				if shown != "" {
					t.Fatalf("%q shows %q of %q", err, shown, marked)
				}
			}
		}
	}
}

// silentFiles are the files to put marks into. They are good, or refused for different reasons.
func silentFiles(t testing.TB) map[string][][]byte {
	files := make(map[string][][]byte)
	add := func(reader string, cases []hostile) {
		for _, c := range cases {
			if len(c.file) < 5000 {
				files[reader] = append(files[reader], c.file)
			}
		}
	}
	add(".npy", hostileNPY)
	add(".fvecs", hostileVecs)
	add(".ivecs", hostileVecs)
	add(".bvecs", hostileVecs)
	add(".fbin", hostileBin)
	add(".ibin", hostileBin)
	add(".u8bin", hostileBin)
	add(".i8bin", hostileBin)
	add(".idx", hostileIDX)
	for _, name := range []string{"v1", "v2", "f8be", "i8", "labels", "cube", "fortran", "complex", "object", "structured", "text", "scalar"} {
		files[".npy"] = append(files[".npy"], load(t, golden(name+".npy")))
	}
	for _, c := range refusedLabels(t) {
		if strings.HasSuffix(c.name, ".csv") && len(c.file) <= largest {
			files[".csv"] = append(files[".csv"], c.file)
			files[".tsv"] = append(files[".tsv"], bytes.ReplaceAll(c.file, []byte(","), []byte("\t")))
			files[".txt"] = append(files[".txt"], bytes.ReplaceAll(c.file, []byte(","), []byte(" ")))
		}
	}
	for _, c := range refusedTables() {
		if len(c.file) <= largest {
			files["table.csv"] = append(files["table.csv"], c.file)
			files["table.tsv"] = append(files["table.tsv"], bytes.ReplaceAll(c.file, []byte(","), []byte("\t")))
			files["table.txt"] = append(files["table.txt"], bytes.ReplaceAll(c.file, []byte(","), []byte(" ")))
		}
	}
	for _, name := range []string{"arrays", "unknown"} {
		files["arrays.npz"] = append(files["arrays.npz"], load(t, golden(name+".npz")))
	}
	files[".npy"] = append(files[".npy"], load(t, golden("names.npy")), load(t, golden("names_bytes.npy")), load(t, golden("labels_float.npy")))
	files[".fvecs"] = append(files[".fvecs"], le32(2, 1, 2, 2, 3, 4))
	files[".ivecs"] = append(files[".ivecs"], le32(2, 1, 2, 2, 3, 4))
	files[".fbin"] = append(files[".fbin"], le32(2, 2, 1, 2, 3, 4))
	files[".ibin"] = append(files[".ibin"], le32(2, 2, 1, 2, 3, 4))
	files[".idx"] = append(files[".idx"], idxFile(0x0c, []uint32{2, 2}, le32(1, 2, 3, 4)...), idxFile(0x0e, []uint32{1}, le32(1, 2)...))
	files[".idx.gz"] = append(files[".idx.gz"], packed(t, idxFile(8, []uint32{2}, 1, 2)))
	files[".npz"] = append(files[".npz"], zipFile(t, npzMembers(), zip.Store), zipFile(t, npzMembers(), zip.Deflate), zipTwice(t, "data.npy"))
	for name, member := range npzMembers() {
		files[".npz "+name] = [][]byte{member, load(t, golden("f8.npy"))}
	}
	return files
}

// TestMessagesAtEveryOffset puts marks at every offset of small files of every format.
func TestMessagesAtEveryOffset(t *testing.T) {
	readers, files := silentReaders(), silentFiles(t)
	for name, reader := range readers {
		t.Run(strings.TrimPrefix(name, "."), func(t *testing.T) {
			if len(files[name]) == 0 {
				t.Fatal("no file to read")
			}
			for _, file := range files[name] {
				for at := 0; at <= min(len(file), 200); at += longtest.Pick(3, 1, 1) { // after that all bytes are the same
					checkSilent(t, reader, file, at)
				}
			}
		})
	}
}

// FuzzMessages is TestMessagesAtEveryOffset for any file.
func FuzzMessages(f *testing.F) {
	readers := silentReaders()
	var names []string
	for name := range readers {
		names = append(names, name)
	}
	slices.Sort(names)
	for name, files := range silentFiles(f) {
		reader, _ := slices.BinarySearch(names, name)
		for _, file := range files {
			if len(file) <= largest {
				f.Add(file, uint8(reader), uint16(len(file)/2))
			}
		}
	}
	f.Fuzz(func(t *testing.T, file []byte, reader uint8, at uint16) {
		if len(file) <= largest {
			checkSilent(t, readers[names[int(reader)%len(names)]], file, int(at)%(len(file)+1))
		}
	})
}
