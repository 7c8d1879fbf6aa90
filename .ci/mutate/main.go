// Command mutate gets the code wrong on purpose, one mistake at a time, and
// demands that the tests named next to the mistake fail, each of them. Run from
// the root of the repository, by .ci/mutants; arguments choose tables (ledger.txt) and, as
// regular expressions, mutants by name.
//
// A mutant is a replacement of text, written down in the tables next to this
// file (see table.go). The tests are compiled with `go test -overlay`, so no file
// of the tree changes and no wrong code is part of a package. A text that does not
// occur exactly once, a mutant that does not compile and a test that does not pass
// without a mutant fail the run: none of them is a kill.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := mutate(ctx, os.Stdout, ".", os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// mutate tries the mutants of the module at root and writes a line about each.
func mutate(ctx context.Context, out io.Writer, root string, patterns []string) error {
	began := time.Now()
	tables, err := filepath.Glob(filepath.Join(root, ".ci", "mutate", "*.txt"))
	if err != nil {
		return err
	}
	all, err := readTables(tables)
	if err != nil {
		return err
	}
	mutants, err := chosen(all, patterns)
	if err != nil {
		return err
	}
	temporary, err := os.MkdirTemp("", "mutants-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temporary)
	b := bench{root: root, temporary: temporary}

	if complaint := b.passes(ctx, mutants); complaint != "" {
		return fmt.Errorf("without a mutant:\n%s", complaint)
	}
	fmt.Fprintln(out, "no mistake -> all pass")

	// As many at once as there are processors, reported in the order of the tables.
	verdicts := make([]chan string, len(mutants))
	turns := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	defer wait.Wait()
	for i := range verdicts {
		verdicts[i] = make(chan string, 1)
	}
	wait.Go(func() {
		for i, m := range mutants {
			turns <- struct{}{}
			wait.Go(func() {
				verdicts[i] <- b.try(ctx, m)
				<-turns
			})
		}
	})
	alive := 0
	for i, m := range mutants {
		if complaint := <-verdicts[i]; complaint != "" {
			alive++
			fmt.Fprintf(out, "%s %s\n", m.name, complaint)
			continue
		}
		fmt.Fprintf(out, "%s -> %s\n", m.name, strings.Join(m.tests(), " "))
	}
	if alive > 0 {
		return fmt.Errorf("%d of %d mutants are not killed", alive, len(mutants))
	}
	fmt.Fprintf(out, "%d mutants killed in %.0f s\n", len(mutants), time.Since(began).Seconds())
	return nil
}

// chosen returns the mutants of tables that are named, such as ledger.txt, and those whose names
// match a regular expression among the patterns; all mutants if there are no patterns.
func chosen(all []mutant, patterns []string) (some []mutant, err error) {
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	var expressions []string
	for _, p := range patterns {
		if strings.HasSuffix(p, ".txt") {
			if !slices.ContainsFunc(all, func(m mutant) bool { return m.table == p }) {
				return nil, fmt.Errorf("no table %s", p)
			}
			continue
		}
		expressions = append(expressions, p)
	}
	names, err := regexp.Compile(strings.Join(expressions, "|"))
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if slices.Contains(patterns, m.table) || len(expressions) > 0 && names.MatchString(m.name) {
			some = append(some, m)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no mutant of %d matches %q", len(all), patterns)
	}
	return some, nil
}
