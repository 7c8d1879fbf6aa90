package formats_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-64e14a55/privatemail/formats"
)

// tempDir returns a fresh folder and a function that removes it.
func tempDir() (string, func()) {
	dir, err := os.MkdirTemp("", "formats")
	if err != nil {
		log.Fatal(err)
	}
	return dir, func() { os.RemoveAll(dir) }
}

func Example() {
	dir, remove := tempDir()
	defer remove()
	ctx := context.Background()

	features, labels := filepath.Join(dir, "features.npy"), filepath.Join(dir, "labels.csv")
	if err := formats.WriteMatrix(ctx, features, 2, 3, []float32{1, 2, 3, 4, 5, 6}); err != nil {
		log.Fatal(err)
	}
	if err := formats.WriteLabels(ctx, labels, []int32{7, -1}); err != nil {
		log.Fatal(err)
	}

	m, err := formats.ReadMatrix(features)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	y, err := formats.ReadLabels(labels)
	if err != nil {
		log.Fatal(err)
	}
	for i := range m.Rows {
		fmt.Println(m.Data[i*m.Cols:(i+1)*m.Cols], y[i])
	}
	// Output:
	// [1 2 3] 7
	// [4 5 6] -1
}

func ExampleError() {
	dir, remove := tempDir()
	defer remove()

	path := filepath.Join(dir, "queries.fvecs")
	// Two rows: (0) with its length 1, and one that claims a length of 2.
	rows := []byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}
	if err := os.WriteFile(path, rows, 0o666); err != nil {
		log.Fatal(err)
	}
	_, err := formats.ReadMatrix(path)
	if e, ok := errors.AsType[*formats.Error](err); ok {
		fmt.Println(errors.Is(err, formats.ErrFormat), filepath.Base(e.Path), "row", e.Row, "offset", e.Offset)
		fmt.Println(e.Err)
	}
	// Output:
	// true queries.fvecs row 1 offset 8
	// the dimension differs from that of row 1
}

func ExampleWriteFile() {
	dir, remove := tempDir()
	defer remove()
	ctx := context.Background()

	path := filepath.Join(dir, "report.txt")
	write := func(text string, fail error) error {
		return formats.WriteFile(ctx, path, func(w io.Writer) error {
			b := bufio.NewWriter(w)
			fmt.Fprintln(b, text)
			return errors.Join(b.Flush(), fail)
		})
	}
	if err := write("complete", nil); err != nil {
		log.Fatal(err)
	}
	err := write("half of", errors.New("interrupted"))
	data, _ := os.ReadFile(path)
	fmt.Printf("%v, the file still says %s", err != nil, data)
	// Output:
	// true, the file still says complete
}

func ExampleWriteMatrix() {
	dir, remove := tempDir()
	defer remove()
	ctx := context.Background()

	images := []uint8{0, 64, 128, 255}
	for _, name := range []string{"images.bvecs", "images-idx2-ubyte.gz", "images.fvecs"} {
		path := filepath.Join(dir, name)
		err := formats.WriteMatrix(ctx, path, 2, 2, images)
		if e, ok := errors.AsType[*formats.Error](err); ok {
			fmt.Println(e.Err)
			continue
		}
		m, err := formats.ReadMatrix(path)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(m.Rows, m.Cols, m.Data)
	}
	// Output:
	// 2 2 [0 64 128 255]
	// 2 2 [0 64 128 255]
	// .fvecs takes float32, not uint8; can be written: .npy, .bvecs, .u8bin, .idx, -ubyte, .idx.gz, -ubyte.gz
}

func ExampleReadCSR() {
	dir, remove := tempDir()
	defer remove()

	path := filepath.Join(dir, "graph.npz")
	// 0 5 0
	// 6 0 7
	graph := &formats.CSR{Rows: 2, Cols: 3, Ptr: []uint64{0, 1, 3}, Ind: []uint32{1, 0, 2}, Val: []float32{5, 6, 7}}
	if err := formats.WriteCSR(context.Background(), path, graph); err != nil {
		log.Fatal(err)
	}
	m, err := formats.ReadCSR(path)
	if err != nil {
		log.Fatal(err)
	}
	for i := range m.Rows {
		for p := m.Ptr[i]; p < m.Ptr[i+1]; p++ {
			fmt.Println(i, m.Ind[p], m.Val[p])
		}
	}
	// Output:
	// 0 1 5
	// 1 0 6
	// 1 2 7
}
