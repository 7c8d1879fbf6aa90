package formats

import (
	"math"
	"path/filepath"
	"testing"
)

// A sparse matrix is written to a .mtx row by row, with the digits that read back to the same bits.
func TestWriteCSRAsText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m.mtx")
	m := &CSR{Rows: 3, Cols: 4, Ptr: []uint64{0, 2, 2, 3}, Ind: []uint32{0, 3, 1}, Val: []float32{0.1, -3, math.SmallestNonzeroFloat32}}
	if err := WriteCSR(t.Context(), path, m); err != nil {
		t.Fatal(err)
	}
	const want = "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 0.1\n1 4 -3\n3 2 1e-45\n"
	if got := string(load(t, path)); got != want {
		t.Errorf("%s", got)
	}
	m.Val[1] = float32(math.NaN())
	wantError(t, WriteCSR(t.Context(), path, m), errRange, path, "entry 2")
	m.Val[1], m.Ptr[1], m.Ptr[2] = 1, 3, 1
	wantError(t, WriteCSR(t.Context(), path, m), errShape, path)
	if again := string(load(t, path)); again != want {
		t.Errorf("a refused matrix changed the file: %s", again)
	}
}
