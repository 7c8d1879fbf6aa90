package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

func loadVerb() cli.Verb {
	return cli.Verb{
		Name: "load", Summary: "ask a service as many clients at once, and tell how long its answers take", Synopsis: []string{"URL [-clients N] [-queries N] [-encoding NAME] [-check GALLERY] [-metrics URL]"},
		About: `Asks a service of 'privatemail serve' for the lists of cells, in mode cells, from many
clients at once, each on a connection of its own, one query after the other. The cells are
drawn at random, as if no client had a record, so nothing is spent. Prints answers and bytes
per second, and the time that half of the queries and all but one in a hundred stay within,
from the request to the last byte of its answer.

With -check the gallery file is opened here, and every answer is compared with the one that
the library writes, byte for byte. With -metrics the memory of the service is read, before,
between and after the queries. A service that was started with -rate refuses some queries, and
load then fails.
`,
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Examples: []string{
			"pmbench load http://127.0.0.1:8480 -clients 16 -queries 1000 -encoding int8",
			"pmbench load http://127.0.0.1:8480 -clients 16 -queries 1000 -check digits.gallery -metrics http://127.0.0.1:8481/metrics",
		},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := &loadFlags{}
			cli.CountVar(fs, &f.clients, "clients", 16, "ask from `N` clients at once")
			cli.CountVar(fs, &f.queries, "queries", 1000, "ask `N` queries, all clients together")
			fs.StringVar(&f.encoding, "encoding", "float32", "ask for rows in the encoding `NAME`: float32 or int8")
			fs.StringVar(&f.check, "check", "", "compare every answer with that of the gallery `FILE`, opened here")
			fs.StringVar(&f.metrics, "metrics", "", "read the memory of the service from the metrics at `URL`")
			fs.StringVar(&f.token, "token", "", "send the bearer token `TEXT`")
			fs.BoolVar(&f.get, "get", false, "get the URL itself, such as a file: what a bare file server reaches")
			fs.BoolVar(&f.wait, "wait", false, "measure when a line on standard input says so, as suite retrieval does")
			return f.run
		},
	}
}

type loadFlags struct {
	clients, queries                int
	encoding, check, metrics, token string
	get, wait                       bool
}

func (f *loadFlags) run(ctx context.Context, e *cli.Env, names []string) error {
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
	if f.wait {
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
func (f *loadFlags) target(ctx context.Context, address string) (*loadTarget, error) {
	t := newLoadTarget(f.token)
	if f.get {
		if f.check != "" {
			return nil, cli.Usagef("-check is for answers, and -get asks for none")
		}
		return t, t.takeFile(ctx, address)
	}
	encoding, err := wire.ParseEncoding(f.encoding)
	if err != nil {
		return nil, cli.Usagef("-encoding: %v", err)
	}
	return t, t.takeCells(ctx, strings.TrimSuffix(address, "/"), encoding, f.check)
}

// ask asks all queries, in ten parts between which the memory of the service is read.
func (f *loadFlags) ask(ctx context.Context, e *cli.Env, target *loadTarget) (*Load, error) {
	meter := newMeter(e)
	defer meter.clear()
	out := &Load{Clients: f.clients, Queries: f.queries, Encoding: f.encoding, AnswerBytes: target.bytes, Checked: f.check != ""}
	var seconds []float64
	const parts = 10
	for part := range parts {
		if err := f.weigh(ctx, out); err != nil {
			return nil, err
		}
		meter.show("asking", float64(part)/parts)
		count := (part+1)*f.queries/parts - part*f.queries/parts
		began := time.Now()
		own, err := askAll(ctx, target.ask, f.clients, count)
		if err != nil {
			return nil, err
		}
		out.Seconds += time.Since(began).Seconds()
		seconds = append(seconds, own...)
	}
	out.P50, out.P99 = quantile(seconds, 0.5), quantile(seconds, 0.99)
	return out, f.weigh(ctx, out)
}

// weigh notes the memory of the service.
func (f *loadFlags) weigh(ctx context.Context, out *Load) error {
	if f.metrics == "" {
		return nil
	}
	bytes, err := residentMemory(ctx, f.metrics)
	if err != nil {
		return fmt.Errorf("-metrics: %w", err)
	}
	out.ResidentBytes = append(out.ResidentBytes, bytes)
	return nil
}

// A Load is what load has measured, the object of load -json.
type Load struct {
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

func (l *Load) print(e *cli.Env) error {
	rate := float64(l.Queries) / l.Seconds
	_, err := fmt.Fprintf(e.Stdout, "%d queries of %d clients, answers of %d bytes (%s): %.1f answers/s, %.0f MB/s, p50 %s, p99 %s\n",
		l.Queries, l.Clients, l.AnswerBytes, l.Encoding, rate, rate*float64(l.AnswerBytes)/1e6, duration(l.P50), duration(l.P99))
	if l.Checked {
		_, other := fmt.Fprintln(e.Stdout, "every answer is that of the gallery file, byte for byte")
		err = errors.Join(err, other)
	}
	if len(l.ResidentBytes) > 0 {
		_, other := fmt.Fprint(e.Stdout, "memory of the service:")
		for _, b := range l.ResidentBytes {
			_, more := fmt.Fprintf(e.Stdout, " %s", size(b))
			other = errors.Join(other, more)
		}
		_, more := fmt.Fprintln(e.Stdout)
		err = errors.Join(err, other, more)
	}
	return err
}
