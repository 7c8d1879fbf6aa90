// Command mutate gets the code wrong on purpose, one mistake at a time, and
// demands that the tests named beside the mistake fail, each of them. Run from
// the root of the repository, by .ci/mutants; regular expressions choose among
// the mutants by name, and 1/3 chooses the second of every three.
//
// A mutant is a replacement of text, written down in the tables beside this
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

// part is an argument such as 1/3: of every three mutants the second.
var part = regexp.MustCompile(`^(\d+)/([1-9]\d*)$`)

// chosen returns the mutants whose names match one of the patterns, all if there
// are none, or a part of all.
func chosen(all []mutant, patterns []string) (some []mutant, err error) {
	if len(patterns) == 1 && part.MatchString(patterns[0]) {
		var first, each int
		if _, err := fmt.Sscanf(patterns[0], "%d/%d", &first, &each); err != nil {
			return nil, err
		}
		for i := first % each; i < len(all); i += each {
			some = append(some, all[i])
		}
		return some, nil
	}
	if len(patterns) == 0 {
		patterns = []string{""}
	}
	names, err := regexp.Compile(strings.Join(patterns, "|"))
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if names.MatchString(m.name) {
			some = append(some, m)
		}
	}
	if len(some) == 0 {
		return nil, fmt.Errorf("no mutant of %d matches %q", len(all), patterns)
	}
	return some, nil
}
