// Package load asks a service of privatemail serve as many clients at once, and reports how
// long its answers take.
package load

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// Options are what verb load is asked for.
type Options struct {
	Clients, Queries int
	Encoding         string // of the rows in answers
	Check            string // the gallery file that answers are compared with; "": none
	Metrics          string // the URL where the service reports its memory; "": it is not asked
	Token            string
	Get              bool // get the URL itself
	Wait             bool // measure when a line on standard input says so
}

// Run asks the service at the only one of names, a URL.
func (f *Options) Run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) != 1 {
		return cli.Usagef("want the URL of a service, got %d names", len(names))
	}
	address, err := url.Parse(names[0])
	if err != nil || address.Scheme == "" || address.Host == "" {
		return cli.Usagef("want a URL such as http://127.0.0.1:8480")
	}
	target, err := f.target(ctx, names[0])
	if err != nil {
		return err
	}
	defer target.close()
	if f.Wait {
		return waitForRounds(ctx, e, target)
	}
	out, err := f.ask(ctx, e, target)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.Object(out)
	}
	return out.print(e)
}

// target returns what is asked.
func (f *Options) target(ctx context.Context, address string) (*loadTarget, error) {
	t := newLoadTarget(f.Token)
	if f.Get {
		if f.Check != "" {
			return nil, cli.Usagef("-check compares answers, and -get asks for a file: leave out one of them")
		}
		return t, t.takeFile(ctx, address)
	}
	encoding, err := wire.ParseEncoding(f.Encoding)
	if err != nil {
		return nil, cli.Usagef("-encoding: %v", err)
	}
	return t, t.takeCells(ctx, strings.TrimSuffix(address, "/"), encoding, f.Check)
}

// ask asks all queries, in ten parts between which the memory of the service is read.
func (f *Options) ask(ctx context.Context, e *cli.Env, target *loadTarget) (*Result, error) {
	meter := measure.NewMeter(e)
	defer meter.Clear()
	out := &Result{Clients: f.Clients, Queries: f.Queries, Encoding: f.Encoding, AnswerBytes: target.bytes, Checked: f.Check != ""}
	var seconds []float64
	const parts = 10
	for part := range parts {
		if err := f.weigh(ctx, out); err != nil {
			return nil, err
		}
		meter.Show("asking", float64(part)/parts)
		count := (part+1)*f.Queries/parts - part*f.Queries/parts
		began := time.Now()
		own, err := askAll(ctx, target.ask, f.Clients, count)
		if err != nil {
			return nil, err
		}
		out.Seconds += time.Since(began).Seconds()
		seconds = append(seconds, own...)
	}
	out.P50, out.P99 = figures.Quantile(seconds, 0.5), figures.Quantile(seconds, 0.99)
	return out, f.weigh(ctx, out)
}

// weigh notes the memory of the service.
func (f *Options) weigh(ctx context.Context, out *Result) error {
	if f.Metrics == "" {
		return nil
	}
	bytes, err := residentMemory(ctx, f.Metrics)
	if err != nil {
		return fmt.Errorf("-metrics: %w", err)
	}
	out.ResidentBytes = append(out.ResidentBytes, bytes)
	return nil
}

// A Result is what load has measured, the object of load -json.
type Result struct {
	Clients  int    `json:"clients"`
	Queries  int    `json:"queries"`
	Encoding string `json:"encoding"`
	// AnswerBytes is the length of an answer.
	AnswerBytes int64 `json:"answer_bytes"`
	// Seconds is what all queries took, P50 and P99 what one query did.
	Seconds float64 `json:"seconds"`
	P50     float64 `json:"seconds_p50"`
	P99     float64 `json:"seconds_p99"`
	// Checked says that every answer was that of the gallery file.
	Checked bool `json:"checked"`
	// ResidentBytes is the memory of the service, before, between and after.
	ResidentBytes []int64 `json:"resident_bytes,omitempty"`
}

func (l *Result) print(e *cli.Env) error {
	rate := float64(l.Queries) / l.Seconds
	_, err := fmt.Fprintf(e.Stdout, "%d queries of %d clients, answers of %d bytes (%s): %.1f answers/s, %.0f MB/s, p50 %s, p99 %s\n",
		l.Queries, l.Clients, l.AnswerBytes, l.Encoding, rate, rate*float64(l.AnswerBytes)/1e6, figures.Duration(l.P50), figures.Duration(l.P99))
	if l.Checked {
		_, other := fmt.Fprintln(e.Stdout, "every answer is that of the gallery file, byte for byte")
		err = errors.Join(err, other)
	}
	if len(l.ResidentBytes) > 0 {
		_, other := fmt.Fprint(e.Stdout, "memory of the service:")
		for _, b := range l.ResidentBytes {
			_, more := fmt.Fprintf(e.Stdout, " %s", figures.Size(b))
			other = errors.Join(other, more)
		}
		_, more := fmt.Fprintln(e.Stdout)
		err = errors.Join(err, other, more)
	}
	return err
}

// waitForRounds is the side of the clients in suite retrieval, a child as peers are: a line
// of standard input holds a number of clients and one of queries, and the answer is a line
// of JSON with the seconds of each query.
func waitForRounds(ctx context.Context, e *cli.Env, target *loadTarget) error {
	if err := e.Object(struct{ Version string }{"pmbench load"}); err != nil {
		return err
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var clients, queries int
		if _, err := fmt.Sscan(lines.Text(), &clients, &queries); err != nil || clients < 1 || queries < 1 {
			return fmt.Errorf("a line that does not hold two numbers")
		}
		seconds, err := askAll(ctx, target.ask, clients, queries)
		if err != nil {
			return err
		}
		if err := e.Object(struct{ Seconds []float64 }{seconds}); err != nil {
			return err
		}
	}
	return nil
}
