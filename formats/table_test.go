package formats

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestReadTable reads files as people have them.
func TestReadTable(t *testing.T) {
	names := func(n ...string) []string { return n }
	for _, c := range []struct {
		name, file string
		s          TableSettings
		cols       int
		data       []float32
		columns    []string
		class      []int32 // nil: no labels
		classes    []string
	}{
		{"plain.csv", "1,2\n3,4\n", TableSettings{}, 2, []float32{1, 2, 3, 4}, nil, nil, nil},
		{"header.csv", "a,b\n1,2\n", TableSettings{}, 2, []float32{1, 2}, names("a", "b"), nil, nil},
		{"label.csv", "a,label,b\n1,7,2\n3,-1,4\n", TableSettings{}, 2, []float32{1, 2, 3, 4}, names("a", "b"), []int32{7, -1}, nil},
		{"windows.csv", "\ufeffa,b,Class\r\n1,2,x\r\n3,4,w\r\n", TableSettings{}, 2, []float32{1, 2, 3, 4}, names("a", "b"), []int32{1, 0}, names("w", "x")},
		{"tabs.tsv", "a\ty\n1\t2.0\n", TableSettings{}, 1, []float32{1}, names("a"), []int32{2}, nil},
		{"savetxt.txt", "# made by numpy\n1.0e+00 2.0e+00\n3 4\n", TableSettings{}, 2, []float32{1, 2, 3, 4}, nil, nil, nil},
		{"excel.csv", "a;b\n1;2\n", TableSettings{}, 2, []float32{1, 2}, names("a", "b"), nil, nil},
		{"quoted.csv", "\"a, first\",\"b\"\"\"\n\"1\", \"2\"\n", TableSettings{}, 2, []float32{1, 2}, names("a, first", "b\""), nil, nil},
		{"lines.csv", "\"a\nb\",label\n1,\"x\ny\"\n", TableSettings{}, 1, []float32{1}, names("a\nb"), []int32{0}, names("x\ny")},
		{"pandas.csv", ",0,1,2\n0,5,6,7\n", TableSettings{}, 3, []float32{5, 6, 7}, names("0", "1", "2"), nil, nil},
		{"pandas-label.csv", "0,1,label\n5,6,1\n", TableSettings{}, 2, []float32{5, 6}, names("0", "1"), []int32{1}, nil},
		{"id.csv", "ID,a\n17,5\n18,6\n", TableSettings{}, 1, []float32{5, 6}, names("a"), nil, nil},
		{"coordinates.csv", "x,y,z\n1,2,3\n", TableSettings{}, 3, []float32{1, 2, 3}, names("x", "y", "z"), nil, nil},
		{"target.csv", "0,1,kind\n5,6,1\n", TableSettings{}, 3, []float32{5, 6, 1}, names("0", "1", "kind"), nil, nil},
		{"iris.csv", "5.1,3.5,setosa\n4.9,3,virginica\n", TableSettings{Label: "3"}, 2, []float32{5.1, 3.5, 4.9, 3}, nil, []int32{0, 1}, names("setosa", "virginica")},
		{"missing.csv", "a,label\n1,\n2,NA\n3,nan\n4,x\n", TableSettings{}, 1, []float32{1, 2, 3, 4}, names("a"), []int32{-1, -1, -1, 0}, names("x")},
		{"mixed.csv", "a,label\n1,2.5\n2,-1\n3,x\n", TableSettings{}, 1, []float32{1, 2, 3}, names("a"), []int32{0, -1, 1}, names("2.5", "x")},
		{"digit.csv", "a,digit\n1,4\n", TableSettings{Label: "digit"}, 1, []float32{1}, names("a"), []int32{4}, nil},
		{"case.csv", "a,Digit\n1,4\n", TableSettings{Label: "digit"}, 1, []float32{1}, names("a"), []int32{4}, nil},
		{"skip.csv", "a,label\n1,2.5\n", TableSettings{SkipLabels: true}, 1, []float32{1}, names("a"), nil, nil},
		{"chosen.csv", "a,b,c\n1,2,3\n", TableSettings{Columns: "c,a"}, 2, []float32{3, 1}, names("c", "a"), nil, nil},
		{"numbers.csv", "7,1,2,3\n", TableSettings{Columns: "2..4"}, 3, []float32{1, 2, 3}, nil, nil, nil},
		{"dash.csv", "7,1,2,3\n", TableSettings{Columns: "2-3,1"}, 3, []float32{1, 2, 7}, nil, nil, nil},
		{"range.csv", "a,b,c,d\n1,2,3,4\n", TableSettings{Columns: "b..d"}, 3, []float32{2, 3, 4}, names("b", "c", "d"), nil, nil},
		{"pattern.csv", "id,px1,px2,label\n1,2,3,4\n", TableSettings{Columns: "px*"}, 2, []float32{2, 3}, names("px1", "px2"), []int32{4}, nil},
		{"wanted.csv", "id,label\n1,4\n", TableSettings{Columns: "id,label"}, 2, []float32{1, 4}, names("id", "label"), nil, nil},
		{"counts.csv", "0,1,2\n5,6,7\n", TableSettings{Header: WithHeader}, 3, []float32{5, 6, 7}, names("0", "1", "2"), nil, nil},
		{"row.csv", "0,1,2\n5,6,7\n", TableSettings{Header: NoHeader}, 3, []float32{0, 1, 2, 5, 6, 7}, nil, nil, nil},
		{"only.csv", "a,b\n", TableSettings{}, 2, nil, names("a", "b"), nil, nil},
		{"empty.csv", "", TableSettings{}, 0, nil, nil, nil, nil},
		{"packed.csv.gz", string(packed(t, []byte("a,label\n1,2\n"))), TableSettings{}, 1, []float32{1}, names("a"), []int32{2}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, c.name, []byte(c.file))
			got, err := ReadTable(t.Context(), path, &c.s)
			if err != nil {
				t.Fatal(err)
			}
			if got.Cols != c.cols || !slices.Equal(got.Data, c.data) || got.Rows*got.Cols != len(c.data) || !slices.Equal(got.Columns, c.columns) {
				t.Errorf("got %d x %d %v %q", got.Rows, got.Cols, got.Data, got.Columns)
			}
			if (got.Labels == nil) != (c.class == nil) {
				t.Fatalf("labels %v", got.Labels)
			}
			if l := got.Labels; l != nil && (!slices.Equal(l.Class, c.class) || !slices.Equal(l.Names, c.classes)) {
				t.Errorf("labels %v %q", l.Class, l.Names)
			}
			layout, err := c.s.ReadLayout(path)
			if err != nil || len(layout.Features) != c.cols || (layout.Names == nil) != (c.columns == nil) {
				t.Errorf("layout %+v, %v", layout, err)
			}
		})
	}
}

// refusedTables are texts that are not tables, with the settings to read them.
func refusedTables() []struct {
	hostile
	s TableSettings
} {
	type refused = struct {
		hostile
		s TableSettings
	}
	refuse := func(text string, s TableSettings, kind error, parts ...string) refused {
		return refused{hostile{text[:min(len(text), 20)], []byte(text), kind, parts}, s}
	}
	none := TableSettings{}
	return []refused{
		refuse("a,b\n1,2\n3,\n", none, ErrFormat, "line 3", "column 2", "no value"),
		refuse("a,b\n1,NaN\n", none, ErrFormat, "line 2", "column 2", "no value"),
		refuse("a,b\n1,inf\n", none, ErrFormat, "line 2", "column 2", "finite"),
		refuse("a,b\n1,x\n3,4\n", none, ErrFormat, "line 2", "column 2", "column of labels"),
		refuse("a,b\n1,1e40\n", none, errRange, "line 2", "column 2", "float32"),
		refuse("a,b\n1,2,3\n", none, ErrFormat, "line 2", "3 columns", "has 2"),
		refuse("a,b\n1\n", none, ErrFormat, "line 2", "1 columns"),
		refuse("a,b\n\"1,2\n", none, ErrFormat, "line 2", "quotes"),
		refuse("a,b\n\"1\"x,2\n", none, ErrFormat, "line 2", "quotes"),
		refuse("0,1,2\n5,6,7\n", none, ErrFormat, "line 1", "header"),
		refuse("a,label\n1,2.5\n2,3\n", none, ErrFormat, "line 2", "not an integer"),
		refuse("a,label\n1,3\n2,1e10\n", none, errRange, "line 3", "int32"),
		refuse("a,label\n1,\xff\n", none, ErrFormat, "line 2", "UTF-8"),
		refuse("\xff\xfea\x00,\x00b\x00\n\x00", none, ErrUnsupported, "line 1", "UTF-16"),
		refuse("label\n1\n", none, errShape, "line 2", "no column of features"),
		refuse("a,b\n1,2\n", TableSettings{Label: "digit"}, ErrColumn, "line 1", `"digit"`, "2 of the header"),
		refuse("1,2\n", TableSettings{Label: "3"}, ErrColumn, "line 1", `"3"`, "from 1 to 2"),
		refuse("1,2\n", TableSettings{Columns: "0..1"}, ErrColumn, `"0..1"`),
		refuse("1,2\n", TableSettings{Columns: "2..1"}, ErrColumn, "ends before"),
		refuse("1,2\n", TableSettings{Columns: "1,1..2"}, ErrColumn, "column 1 a second time"),
		refuse("a,b\n1,2\n", TableSettings{Columns: "px*"}, ErrColumn, `"px*"`),
		refuse("a,b\n1,2\n", TableSettings{Columns: "[*"}, ErrColumn, "not a valid pattern"),
		refuse("a,b\n1,2\n", TableSettings{Columns: "" + ","}, ErrColumn, `""`),
		refuse("1,2\n", TableSettings{Columns: "99999999999999999999"}, ErrColumn, "from 1 to 2"),
		refuse("a,b\n1,2\n", TableSettings{Columns: "a,b", Label: "b"}, ErrColumn, "among those of the features"),
		refuse("a,b\n1,2\n3,4\n", TableSettings{Limit: 8}, nil),
		refuse(strings.Repeat("1,2\n", 1<<18), TableSettings{Limit: 1 << 20}, ErrLimit, "1048576 bytes"),
	}
}

func TestReadTableRefused(t *testing.T) {
	for _, c := range refusedTables() {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, "a.csv", c.file)
			table, err := ReadTable(t.Context(), path, &c.s)
			if c.kind == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantError(t, err, c.kind, path, c.parts...)
			if table != nil {
				t.Error("a table and an error")
			}
		})
	}
	path := golden("f4.npy")
	_, err := ReadTable(t.Context(), path, &TableSettings{Columns: "1"})
	wantError(t, err, ErrColumn, path, ".csv")
	table, err := ReadTable(t.Context(), path, nil)
	if err != nil || table.Rows != 3 || table.Labels != nil {
		t.Errorf("%+v, %v", table, err)
	}
	if layout, err := new(TableSettings).ReadLayout(path); layout != nil || err != nil {
		t.Errorf("layout %v, %v of an array", layout, err)
	}
}

// TestReadTableEnds checks that reading stops when the context ends, and reports progress.
func TestReadTableEnds(t *testing.T) {
	text := strings.Repeat("1,2\n", 5000)
	path := put(t, "a.csv", []byte(text))
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	_, err := ReadTable(ctx, path, &TableSettings{Progress: func(done, total int64) {
		if total != int64(len(text)) || done > total {
			t.Errorf("%d of %d", done, total)
		}
		if calls++; calls == 2 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

// TestHostileTables checks that long lines and wide headers are refused before they fill the memory.
func TestHostileTables(t *testing.T) {
	zeros := make([]byte, 4*maxRecord)
	commas := bytes.Repeat([]byte{','}, maxRecord/2)
	quoted := append([]byte{'"'}, bytes.Repeat([]byte("a\n"), 2*maxRecord)...)
	for _, c := range []hostile{
		{"endless line", zeros, ErrFormat, []string{"line 1", "more than"}},
		{"endless second line", append([]byte("a,b\n1,"), zeros...), ErrFormat, []string{"line 2", "more than"}},
		{"endless quotes", quoted, ErrFormat, []string{"line 1", "more than"}},
		{"wide header", commas, ErrUnsupported, []string{"line 1", "columns"}},
		{"many rows", bytes.Repeat([]byte("1,2,3,4\n"), 1<<20), ErrLimit, []string{"memory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := put(t, "a.csv.gz", packed(t, c.file))
			for name, read := range map[string]func() error{
				"table":  func() error { _, err := ReadTable(t.Context(), path, &TableSettings{Limit: 4 << 20}); return err },
				"labels": func() error { _, err := ReadNamedLabels(t.Context(), path, nil); return err },
			} {
				if name == "labels" && c.kind == ErrLimit {
					continue // no columns of labels
				}
				var err error
				n := allocated(func() { err = read() })
				wantError(t, err, c.kind, path, c.parts...)
				if n > 8*maxRecord {
					t.Errorf("%s: %d bytes allocated", name, n)
				}
			}
		})
	}
}

// TestRecordsAgainstReference reads random text with the same result as encoding/csv.
func TestRecordsAgainstReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "12", "", "x y", `"q"`, `"a,b"`, "\"l\nm\"", `"d""e"`, `""`, "ü", "-1.5e3"}
	for range 2000 {
		var text strings.Builder
		columns := 2 + rng.IntN(4)
		for range rng.IntN(6) {
			row := make([]string, columns)
			for i := range row {
				row[i] = pieces[rng.IntN(len(pieces))]
			}
			text.WriteString(strings.Join(row, ",") + []string{"\n", "\r\n"}[rng.IntN(2)])
		}
		want, err := csv.NewReader(strings.NewReader(text.String())).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		r := newRecords(memory([]byte(text.String())), ".csv")
		for i := 0; ; i++ {
			more, err := r.next()
			if err != nil || more != (i < len(want)) {
				t.Fatalf("record %d of %q: %v, %v", i, text.String(), more, err)
			}
			if !more {
				break
			}
			got := make([]string, len(r.fields))
			for j, field := range r.fields {
				got[j] = string(field)
			}
			if !slices.Equal(got, want[i]) {
				t.Fatalf("record %d of %q: got %q, want %q", i, text.String(), got, want[i])
			}
		}
	}
}

func FuzzTable(f *testing.F) {
	for _, c := range refusedTables() {
		if len(c.file) < 1000 {
			f.Add(c.file, uint8(0), c.s.Columns, c.s.Label)
		}
	}
	f.Add([]byte("a\tlabel\n1\tx\n"), uint8(1), "", "")
	f.Add([]byte("1 2\n3 4\n"), uint8(2), "1..2", "")
	f.Fuzz(func(t *testing.T, input []byte, k uint8, columns, label string) {
		suffix := []string{".csv", ".tsv", ".txt"}[k%3]
		s := &TableSettings{Columns: columns, Label: label}
		var table *Table
		var err error
		bounded(t, input, 256, func() { table, err = readTable(t.Context(), newRecords(memory(input), suffix), s) })
		if err != nil {
			checkError(t, err)
			return
		}
		if len(table.Data) != table.Rows*table.Cols || table.Labels != nil && len(table.Labels.Class) != table.Rows {
			t.Fatalf("%d x %d with %d values", table.Rows, table.Cols, len(table.Data))
		}
	})
}

// BenchmarkReadTable reads rows of 64 columns.
func BenchmarkReadTable(b *testing.B) {
	var text bytes.Buffer
	writeTableRows(&text, 2000, 64)
	path := put(b, "a.csv", text.Bytes())
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := ReadTable(b.Context(), path, nil); err != nil {
			b.Fatal(err)
		}
	}
}

// writeTableRows writes n rows of d numbers and a label.
func writeTableRows(w io.Writer, n, d int) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range n {
		for range d {
			fmt.Fprintf(w, "%.6f,", rng.NormFloat64())
		}
		fmt.Fprintf(w, "%d\n", rng.IntN(10))
	}
}

// MissingNaN reads only missing values as NaN.
func TestMissingNaN(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := os.WriteFile(path, []byte("a,b\n1,NA\n,3\nnull,nan\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	table, err := ReadTable(t.Context(), path, &TableSettings{MissingNaN: true})
	if err != nil {
		t.Fatal(err)
	}
	for e, want := range []float64{1, math.NaN(), math.NaN(), 3, math.NaN(), math.NaN()} {
		if got := float64(table.Data[e]); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("value %d is %v, want %v", e, got, want)
		}
	}
	if _, err := ReadTable(t.Context(), path, nil); !errors.Is(err, ErrFormat) {
		t.Errorf("without: %v", err)
	}
	if err := os.WriteFile(path, []byte("a,b\n1,2\nx,3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadTable(t.Context(), path, &TableSettings{MissingNaN: true}); !errors.Is(err, ErrFormat) {
		t.Errorf("text: %v", err)
	}
}
