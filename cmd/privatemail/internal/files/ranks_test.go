package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/cluster"
	"github.com/seed-64e14a55/privatemail/par"
)

// What one rank cannot write is written by none, and nothing is left.
func TestRanksWriteAllOrNothing(t *testing.T) {
	folder := t.TempDir()
	x := blas32.General{Rows: 5, Cols: 2, Stride: 2, Data: make([]float32, 10)}
	said := make([]string, 3)
	cluster.Local(3, func(ranks *par.Ranks) error { // its error is that of a rank, which said has
		path := filepath.Join(folder, "z.npy")
		if ranks.Rank() == 1 {
			path = filepath.Join(folder, "z.csv")
		}
		err := WritePoints(t.Context(), ranks, path, x)
		said[ranks.Rank()] = fmt.Sprint(err)
		return err
	})
	for r, text := range said {
		if !strings.HasPrefix(text, "rank 1: ") || !strings.Contains(text, "z.csv") {
			t.Errorf("rank %d: %s", r, text)
		}
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

func TestAgreeError(t *testing.T) {
	for _, c := range []struct{ errs, want []string }{
		{[]string{"", "", ""}, []string{"", "", ""}},
		{[]string{"a", "a", "a"}, []string{"a", "a", "a"}},
		{[]string{"a", "", ""}, []string{"rank 0: a", "rank 0: a", "rank 0: a"}},
		{[]string{"", "b", "c"}, []string{"rank 1: b", "rank 1: b", "rank 1: b"}},
		{[]string{"a", "a", ""}, []string{"rank 0: a", "rank 0: a", "rank 0: a"}},
		{[]string{"", "", "-"}, []string{"rank 2: ", "rank 2: ", "rank 2: "}}, // an error without a text
	} {
		got := make([]string, 3)
		err := cluster.Local(3, func(ranks *par.Ranks) error {
			var own error
			if text := c.errs[ranks.Rank()]; text != "" {
				own = errors.New(strings.TrimPrefix(text, "-"))
			}
			if err := agreeError(t.Context(), ranks, own); err != nil {
				got[ranks.Rank()] = err.Error()
			}
			return nil
		})
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, %v", c.errs, got, err)
		}
	}
}
