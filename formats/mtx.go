package formats

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// writeCSRText writes a Matrix Market file: coordinate real general, row by row.
func writeCSRText(ctx context.Context, path string, m *CSR) error {
	for p, v := range m.Val {
		if v-v != 0 {
			return named(path, failf(errRange, "entry %d is not finite", p+1))
		}
	}
	if !slices.IsSorted(m.Ptr) {
		return named(path, failf(errShape, "the row pointers do not ascend"))
	}
	return WriteFile(ctx, path, func(w io.Writer) error {
		b, line := bufio.NewWriter(w), []byte(nil)
		fmt.Fprintf(b, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", m.Rows, m.Cols, len(m.Val))
		for i := range m.Rows {
			for p := m.Ptr[i]; p < m.Ptr[i+1]; p++ {
				line = strconv.AppendUint(line[:0], uint64(i)+1, 10)
				line = append(line, ' ')
				line = strconv.AppendUint(line, uint64(m.Ind[p])+1, 10)
				line = append(line, ' ')
				line = strconv.AppendFloat(line, float64(m.Val[p]), 'g', -1, 32) // the fewest digits that read back
				if _, err := b.Write(append(line, '\n')); err != nil {
					return err
				}
			}
		}
		return b.Flush()
	})
}
