// Package serve is the verb serve: it answers private queries about a gallery over HTTP.
package serve

import (
	"context"
	"flag"
	"log/slog"
	"net"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/remote"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:    "serve",
		Summary: "answer private queries about a gallery over the network",
		Synopsis: []string{
			"MODEL -epsilon E [-share S] [-gallery FILE] [-listen ADDRESS] [FLAGS]",
			"MODEL -sealed [-probes P] [-records FILE] [-gallery FILE] [-listen ADDRESS] [FLAGS]",
			"GALLERY [-listen ADDRESS] [FLAGS]",
			"SHARD [-listen ADDRESS] [FLAGS]",
			"-shards URL,URL,... [-listen ADDRESS] [FLAGS]",
		},
		About: `
Publishes a gallery over HTTP and answers queries in the modes cells, take-all and sealed. A server
sees the cells that a client names, which are private by the client's own epsilon, and in mode
take-all only that the rows were taken. MODEL is a file of 'privatemail fit -model'. Its rows
are cut into cells for clients that spend E on a query, and what comes out is written to the
-gallery file. A later start with the same model and settings opens that file: the codebook
stays the same, and no client pays again for a query it has paid for. GALLERY is such a file.

-sealed also answers, or without -epsilon only, in mode sealed: clients send their queries under
encryption, and the server learns nothing about what they ask for as long as LWE is hard and AES-256 is good. The rows of a MODEL are laid out once, in
the file of -gallery with the ending .sealed, which is a GALLERY as well. When the model has grown
by rows at its end, serve adds these to the epoch as long as they fit, and clients keep what they
have; otherwise it makes a new epoch, which costs clients a download and no epsilon. Queries that
wait share a pass over the gallery, -sealed-most at a time. -records names a text file with a line
for each row, which clients may fetch without disclosing which.

Where the -gallery file came from another model or other settings, serve refuses to replace
it, because a new codebook costs every client its epsilon again; -rebuild does so. SIGHUP
reads gallery, tokens and certificates again. The replaced gallery answers requests that name
its codebook for the time of -drain, and after that they are told of the new one.

-labels publishes the label of every row of the gallery, for 'privatemail query -predict': all that are
let in may have them. FILE has a label for each row, or it is the MODEL, which has those of its rows.
Without -labels no label leaves this machine. With a MODEL the names of its columns are published
beside the map, where it has some, so that clients can take theirs by name.

-listen is 127.0.0.1:8480 unless it is given. Another machine can reach an address that is not
loopback, so that one needs -tls-cert and -tls-key, or -insecure where something else
encrypts. -client-ca asks clients for certificates, -tokens for a token; certificates that
change are read again by themselves. -admin has /metrics, /livez, /readyz, /debug/pprof/ and
the status page with counts of requests, without any token and without TLS: an address that
others can reach needs -insecure. Sockets called public and admin that systemd hands over take
the place of both addresses.

One client, by token or address, has at most the -client-share of what there is a limit of:
requests, connections, and places and memory of mode sealed. A request beyond a limit waits a
second for its place, unread, and is then refused. Behind a proxy all clients have one address: use
tokens, or -client-share 1. A SHARD has no share unless it is given: its clients are front ends.

A gallery that is too large or too busy for one machine is split: SHARD is a file of 'privatemail
split' with a part of the rows, and a serve with -shards is a front end that holds none. It sends
every request to all shards, as it came, and puts their answers together: what clients get is that
of one server with all rows, byte by byte, in the modes cells and take-all. A shard that is missing
makes requests fail with status 503, which names it; they are answered again when it is back. There
may be several front ends. -shards names all shards in their order.

SIGTERM and Ctrl-C end the service: /readyz says no, new connections are refused after -delay,
and requests that run have the time of -shutdown. The log on standard error has route, status,
bytes, time and address of every request, and nothing of what was asked. docs/service.md has
more, docs/openapi.json has every path.`,
		Examples: []string{
			"privatemail serve birds.model -epsilon 4",
			"privatemail serve birds.model -sealed -records names.txt",
			"privatemail serve birds.model -epsilon 4 -labels birds.model",
			"privatemail serve birds.1of3.shard",
			"privatemail serve -shards https://one:8480,https://two:8480,https://three:8480",
			"privatemail serve birds.gallery -listen 0.0.0.0:8480 -tls-cert cert.pem -tls-key key.pem -tokens tokens.txt -rate 10",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: settings.Steered[Flags],
	}
}

type Flags struct {
	work               settings.Work
	listen, admin      string
	insecure           bool
	cert, key, clients string
	tokens             string
	name, labels       string
	logForm, logLevel  string
	Limits             service.Settings
	Cells              CellsFlags
	sealed             sealedFlags
	shards             shardsFlags
	Set                map[string]bool // flags that were given
	log                *slog.Logger    // writes to standard error
}

func (f *Flags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8480", "answer requests at `ADDRESS`, a host and a port")
	fs.StringVar(&f.admin, "admin", "127.0.0.1:8481", "have metrics and profiles at `ADDRESS`; none for nowhere")
	fs.BoolVar(&f.insecure, "insecure", false, "allow an address of -listen or -admin that others can reach without TLS")
	fs.StringVar(&f.cert, "tls-cert", "", "show the certificate of `FILE`, a PEM file with those that signed it")
	fs.StringVar(&f.key, "tls-key", "", "its key is in `FILE`")
	fs.StringVar(&f.clients, "client-ca", "", "let in clients with a certificate that one of `FILE` has signed")
	fs.StringVar(&f.tokens, "tokens", "", "let in clients with a token of `FILE`, which has one in each line")
	fs.StringVar(&f.name, "name", "", "call the gallery `NAME` (default: the name of its file)")
	fs.StringVar(&f.labels, "labels", "", "publish the labels of the rows of the gallery: those of `FILE`, which has one for each row, or is the MODEL")
	settings.ChoiceVar(fs, &f.logForm, "log", "text", []string{"text", "json"}, "write the log in this `FORM`: text or json")
	settings.ChoiceVar(fs, &f.logLevel, "log-level", "info", []string{"debug", "info", "warn", "error"}, "write records of this `LEVEL` and above: debug, info, warn or error; requests are info")
	f.Cells.Define(fs)
	f.sealed.Define(fs, &f.Limits)
	f.shards.Define(fs)

	s := &f.Limits
	cli.CountVar(fs, &s.MaxRequests, "max-requests", 256, "answer `N` requests at a time, and refuse more")
	cli.CountVar(fs, &s.MaxConnections, "max-connections", 0, "have `N` connections at a time, and close more (default: 16 times -max-requests, or what the limit of open files leaves)")
	settings.NumberVar(fs, &s.Share, "client-share", 0.25, settings.Share(), "let one client have a `SHARE` of all that there is a limit of, above 0 and up to 1")
	settings.NumberVar(fs, &s.Rate, "rate", 0, settings.Positive(), "answer `R` requests a second of each client, by token or address (default: no limit)")
	cli.CountVar(fs, &s.Burst, "burst", 0, "with -rate, allow `N` requests at once (default: twice -rate, at least 8)")
	fs.DurationVar(&s.Drain, "drain", 10*time.Minute, "answer for a replaced gallery for `TIME`")
	fs.DurationVar(&s.Header, "header-timeout", 10*time.Second, "wait `TIME` for the head of a request")
	fs.DurationVar(&s.Read, "read-timeout", 30*time.Second, "wait `TIME` for a whole request; after 5 s its body must come at 16 KiB a second")
	fs.DurationVar(&s.Idle, "idle-timeout", 2*time.Minute, "keep a connection without requests for `TIME`")
	fs.DurationVar(&s.Stall, "stall", 30*time.Second, "cut off a client that takes nothing of its answer for `TIME`")
	fs.DurationVar(&s.Delay, "delay", 0, "at the end, say that the service is not ready, and go on for `TIME`")
	fs.DurationVar(&s.Shutdown, "shutdown", 30*time.Second, "at the end, wait `TIME` for requests that run")
}

func (f *Flags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) (err error) {
	f.Set, f.log = set, f.logger(e)
	if f.logForm == "json" {
		restore := logAll(e, f.log, &err)
		defer restore()
	}
	file := ""
	switch {
	case f.shards.addresses != "" && len(names) > 0:
		return cli.Usagef("-shards is for a front end, which holds no rows: no file goes with it")
	case f.shards.addresses == "" && len(names) != 1:
		return cli.Usagef("one MODEL, GALLERY or SHARD is wanted, got %d names", len(names))
	case len(names) == 1:
		file = names[0]
	}
	if err := f.Check(); err != nil {
		return err
	}
	return f.serve(ctx, e, file)
}

// check refuses flags that lack others.
func (f *Flags) Check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return cli.Usagef("-tls-cert and -tls-key go together: a certificate, and its key")
	case f.clients != "" && f.cert == "":
		return cli.Usagef("-client-ca needs -tls-cert and -tls-key: certificates of clients are part of TLS")
	case f.Set["burst"] && !f.Set["rate"]:
		return cli.Usagef("-burst needs -rate")
	}
	for name, d := range map[string]time.Duration{
		"drain": f.Limits.Drain, "header-timeout": f.Limits.Header, "read-timeout": f.Limits.Read, "idle-timeout": f.Limits.Idle,
		"stall": f.Limits.Stall, "delay": f.Limits.Delay, "shutdown": f.Limits.Shutdown,
	} {
		if d < 0 || d == 0 && name != "delay" && name != "drain" {
			return cli.Usagef("-%s is a time above 0, such as 30s", name)
		}
	}
	if err := f.sealed.check(f.Set, f.Limits.SealedWait); err != nil {
		return err
	}
	if err := f.checkAddresses(); err != nil {
		return err
	}
	return f.shards.check(f.Set, f.insecure)
}

// checkAddresses refuses addresses that others can reach if nothing encrypts. A name other than
// localhost may stand for any address.
func (f *Flags) checkAddresses() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return cli.Usagef("-listen: want a host and a port, such as 127.0.0.1:8480")
	}
	if !remote.OnThisMachine(host) {
		if err := f.checkReach(f.listen); err != nil {
			return err
		}
	}
	if f.admin == "none" {
		return nil
	}
	if host, _, err = net.SplitHostPort(f.admin); err != nil {
		return cli.Usagef("-admin: want a host and a port, such as 127.0.0.1:8481, or none")
	}
	if !remote.OnThisMachine(host) {
		return f.checkAdminReach("-admin " + f.admin)
	}
	return nil
}

// checkAdminReach refuses an admin listener that others can reach. There is no TLS on it.
func (f *Flags) checkAdminReach(what string) error {
	if f.insecure {
		return nil
	}
	return cli.Usagef("%s can be reached by others, and lets everyone read metrics and profiles without TLS: use a loopback address, or add -insecure where something else keeps others out", what)
}

// checkReach refuses what others can reach if nothing encrypts.
func (f *Flags) checkReach(address string) error {
	if f.cert != "" || f.insecure {
		return nil
	}
	return cli.Usagef("%s can be reached by others: add -tls-cert and -tls-key, or -insecure where something else encrypts", address)
}

// settings returns those of the service.
func (f *Flags) settings(tokens *service.Tokens) service.Settings {
	s := f.Limits
	s.Tokens, s.Log, s.Release = tokens, f.log, cli.ReadVersion().Version
	if s.Drain == 0 {
		s.Drain = -1 // as the user has it, 0 means not at all
	}
	return s
}

// logger writes to standard error.
func (f *Flags) logger(e *cli.Env) *slog.Logger {
	var options slog.HandlerOptions
	level := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError}[f.logLevel]
	if e.Quiet {
		level = slog.LevelError
	}
	options.Level = level
	if f.logForm == "json" {
		return slog.New(slog.NewJSONHandler(e.Stderr, &options))
	}
	return slog.New(slog.NewTextHandler(e.Stderr, &options))
}
