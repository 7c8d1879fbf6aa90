package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

type loadFlags struct {
	clients, queries            int
	form, check, metrics, token string
	get, wait                   bool
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
	form, err := wire.ParseForm(f.form)
	if err != nil {
		return nil, cli.Usagef("-form: %v", err)
	}
	return t, t.takeCells(ctx, strings.TrimSuffix(address, "/"), form, f.check)
}

// ask asks all queries, in ten parts between which the memory of the service is read.
func (f *loadFlags) ask(ctx context.Context, e *cli.Env, target *loadTarget) (*Load, error) {
	meter := newMeter(e)
	defer meter.clear()
	out := &Load{Clients: f.clients, Queries: f.queries, Form: f.form, AnswerBytes: target.bytes, Checked: f.check != ""}
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
	Clients int    `json:"clients"`
	Queries int    `json:"queries"`
	Form    string `json:"form"`
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
		l.Queries, l.Clients, l.AnswerBytes, l.Form, rate, rate*float64(l.AnswerBytes)/1e6, duration(l.P50), duration(l.P99))
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
