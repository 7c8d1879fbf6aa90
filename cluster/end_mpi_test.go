//go:build mpi && cgo

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/exchange"
	"github.com/seed-64e14a55/privatemail/par"
)

// meet is a call that all ranks make.
func meet(ctx context.Context, r *par.Ranks) error {
	return exchange.Gather(ctx, r, make([]int, r.Size()), r.Bounds(r.Size()))
}

// uneven has rank 0 expect a message of another length than rank 1 sends.
func uneven(r *par.Ranks, expected, sent int) error {
	out, in := make([][]int, r.Size()), make([][]int, r.Size())
	if r.Rank() == 0 {
		in[1] = make([]int, expected)
	} else {
		out[0] = make([]int, sent)
	}
	wait, err := exchange.Begin(context.Background(), r, out, in)
	if err != nil {
		return err
	}
	err = wait(context.Background())
	go func() { // until the process ends: the memory of a failed transfer stays in place
		for {
			runtime.GC()
		}
	}()
	switch {
	case errors.Is(err, errMismatch):
		return &codedError{"tool: " + errMismatch.Error(), 7}
	case err != nil && strings.Contains(err.Error(), "trunc"):
		return &codedError{"tool: truncated", 7}
	}
	return err
}

// ends are programs that end in some way, with their exit code and output.
var ends = []struct {
	name  string
	run   func(*World) error
	code  int
	lines []string // that the program prints, in any order
}{
	{"all well", func(w *World) error { return meet(context.Background(), w.Ranks()) }, 0, nil},
	{"late", func(w *World) error {
		time.Sleep(time.Duration(w.Ranks().Rank()) * (patience + haste)) // a rank without an error waits
		return nil
	}, 0, nil},
	{"all the same", func(*World) error { return &codedError{"tool: no such file", 2} }, 2, []string{"tool: no such file"}},
	{"one", func(w *World) error {
		if w.Ranks().Rank() == 1 {
			return &codedError{"tool: full disk", 3}
		}
		return nil
	}, 3, []string{"rank 1: tool: full disk"}},
	{"each its own", func(w *World) error {
		return &codedError{fmt.Sprintf("tool: error %c", 'a'+w.Ranks().Rank()), 4 + w.Ranks().Rank()}
	}, 4, []string{"rank 0: tool: error a", "rank 1: tool: error b"}},
	{"printed before", func(*World) error { return &codedError{"", 5} }, 5, nil},
	{"others are stuck", func(w *World) error {
		if w.Ranks().Rank() == 1 {
			return &codedError{"tool: full disk", 6}
		}
		return meet(context.Background(), w.Ranks())
	}, 6, []string{"rank 1: tool: full disk"}},
	// MPI cannot cancel a transfer that a rank waits for: the ranks agree, and abort.
	{"given up", func(w *World) error {
		r := w.Ranks()
		ctx, stop := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer stop()
		if r.Rank() == 1 {
			<-ctx.Done()
			return &codedError{"tool: interrupted", 130}
		}
		if err := meet(ctx, r); !errors.Is(err, ctx.Err()) {
			return fmt.Errorf("tool: %w", err)
		}
		if err := meet(context.Background(), r); !errors.Is(err, errBroken) {
			return fmt.Errorf("tool: %w", err)
		}
		return &codedError{"tool: interrupted", 130}
	}, 130, []string{"tool: interrupted"}},
	{"not waited for", func(w *World) error {
		out, in := make([][]int, w.Ranks().Size()), make([][]int, w.Ranks().Size())
		if w.Ranks().Rank() == 0 {
			in[1] = make([]int, 1)
		}
		_, err := exchange.Begin(context.Background(), w.Ranks(), out, in)
		return err
	}, 1, []string{"rank 0: " + errUnfinished.Error()}},
	{"short message", func(w *World) error { return uneven(w.Ranks(), 2, 1) }, 7, []string{"rank 0: tool: ranks make different calls"}},
	{"long message", func(w *World) error { return uneven(w.Ranks(), 1, 2) }, 7, []string{"rank 0: tool: truncated"}},
	// Go handles faults, whatever MPI does about signals.
	{"fault", func(*World) (err error) {
		defer par.Catch(&err)
		var none *World
		none.neighbours++
		return nil
	}, 1, []string{"panic"}},
}

// apart are programs whose ranks would wait for each other for ever.
var apart = map[string]func(*World) error{
	"other calls": func(w *World) error {
		r := w.Ranks()
		if r.Rank() == 0 {
			return meet(context.Background(), r)
		}
		in := make([][]int, r.Size())
		in[0] = make([]int, 1)
		wait, err := exchange.Begin(context.Background(), r, make([][]int, r.Size()), in)
		if err != nil {
			return err
		}
		return wait(context.Background())
	},
	"a call too many": func(w *World) error {
		if err := meet(context.Background(), w.Ranks()); err != nil || w.Ranks().Rank() == 1 {
			return err
		}
		time.Sleep(3 * time.Second) // by now the other has reported its end
		return meet(context.Background(), w.Ranks())
	},
}

func init() {
	maps.Copy(programs, apart)
	for _, e := range ends {
		programs[e.name] = e.run
	}
}

func TestMPIEnds(t *testing.T) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			l := ranksOf(t, 2, e.name)
			l.run(t, e.code)
			got := append(l.lines("tool: "), l.lines("cluster: ")...)
			if e.name == "fault" {
				if len(l.lines("nil pointer")) != 1 {
					t.Error(l.said())
				}
				return
			}
			if slices.Sort(got); !slices.Equal(got, e.lines) {
				t.Errorf("%q, want %q\n%s", got, e.lines, l.said())
			}
		})
	}
}

// Living ranks that make different calls end with an error.
func TestMPIDifferentCalls(t *testing.T) {
	for name := range apart {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := ranksOf(t, 2, name)
			l.run(t, 1)
			if len(l.lines(errMismatch.Error())) == 0 {
				t.Error(l.said())
			}
		})
	}
}
