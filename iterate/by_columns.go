package iterate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// atOnce is the number of columns that a run with Settings.Overwrite takes at a time. It is
// a multiple of the lanes in which steps sum columns, and half a cache line.
const atOnce = 8

// ColumnsAtOnce returns how many of k columns a run copies at a time, at most: all of them without
// Overwrite. It holds two copies of each.
func (s *Settings) ColumnsAtOnce(k int) int {
	if !s.Overwrite {
		return k
	}
	return columnsFrom(0, k)
}

// columnsFrom returns how many of k columns come next after the first lo. Steps sum one or two
// columns in another order than more columns, so a rest of one or two goes with the first.
func columnsFrom(lo, k int) int {
	count := atOnce
	if rest := k % atOnce; lo == 0 && (rest == 1 || rest == 2) {
		count += rest
	}
	return min(count, k-lo)
}

// runsOf returns how many times a run over k columns takes its steps.
func runsOf(k int) (runs int) {
	for lo := 0; lo < k; lo += columnsFrom(lo, k) {
		runs++
	}
	return runs
}

// columns returns some columns of m.
func columns(m blas32.General, lo, count int) blas32.General {
	return blas32.General{Rows: m.Rows, Cols: count, Stride: m.Stride, Data: m.Data[lo:]}
}

// runByColumns takes all steps of some columns from x to to, and then all steps of the next
// columns: no column of a step depends on another. Only sums depend on all columns, and they are
// complete after the last.
func (ws *Workspace) runByColumns(ctx context.Context, op kernel.Operator, x, to blas32.General, step kernel.Step, s Settings) (*Result, error) {
	var total []stepSums // of each step
	result := new(Result)
	done, all := 0, runsOf(x.Cols)*s.Steps
	for lo := 0; lo == 0 || lo < x.Cols; { // begin refuses a start without columns
		count := columnsFrom(lo, x.Cols)
		if err := ws.begin(op, columns(x, lo, count), step, s); err != nil {
			return nil, err
		}
		for t := range s.Steps {
			sums, err := ws.take(ctx, t+1)
			if err != nil {
				return nil, err
			}
			if lo == 0 {
				total = append(total, sums)
			} else {
				total[t].add(sums)
			}
			done++
			s.taken(done, all)
			if lo+count < x.Cols {
				continue
			}
			record := total[t].record(t+1, x.Rows)
			result.Trace = append(result.Trace, record)
			if s.Progress != nil {
				s.Progress(record)
			}
		}
		if err := ws.copyOut(ctx, columns(to, lo, count)); err != nil {
			return nil, err
		}
		lo += count
	}
	return result, nil
}

// refuseOverwrite refuses settings that need all columns of a step before the next one.
func (s *Settings) refuseOverwrite() error {
	if s.Overwrite && (s.Tolerance > 0 || s.Normalize != None) {
		return fmt.Errorf("iterate: %w: overwrite allows neither a tolerance nor normalising, which need all columns after each step", kernel.ErrOption)
	}
	return nil
}
