// Package serve is the verb serve: it answers private queries about a gallery over HTTP.
package serve

import (
	"context"
	"flag"
	"log/slog"
	"net"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/loopback"
	"github.com/seed-64e14a55/privatemail/retrieval/service"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:    "serve",
		Summary: "answer private queries about a gallery over the network",
		Synopsis: []string{
			"MODEL -epsilon E [-gallery FILE] [FLAGS]",
			"MODEL -sealed [-records FILE] [-gallery FILE] [FLAGS]",
			"GALLERY|SHARD [FLAGS]",
		},
		About: `
MODEL is a file of 'privatemail fit -model'. -epsilon cuts its rows into cells
for clients that spend E on a query; -sealed has queries answered under
encryption. The gallery that this makes is kept in -gallery (default: next to
the model), so that a later start is the same gallery. 'privatemail query' asks.`,
		More: `
The modes are cells, all and sealed. The server sees the cells that a client names, which are
private by the client's own epsilon; in mode all only that the rows were taken; in mode sealed
nothing about a query as long as LWE is hard and AES-256 is good.

A later start with the same model and settings opens the file of -gallery: the codebook stays the
same, and no client pays again for a query it has paid for. Where that file came from another model
or other settings, serve refuses to replace it, because a new codebook costs every client its
epsilon again; -rebuild replaces it. GALLERY is such a file, SHARD a part of one ('privatemail
split').

With -sealed the rows of a MODEL are laid out once, in the file of -gallery with the ending .sealed,
which is a GALLERY as well. When the model has grown by rows at its end, serve adds these to the
epoch as long as they fit, and clients keep what they have; otherwise it makes a new epoch, which
costs clients a download and no epsilon. Queries that wait share a pass over the gallery. -records
names a text file with a line for each row; clients may fetch lines without disclosing which.

SIGHUP reads gallery, tokens and certificates again. The replaced gallery answers requests that name
its codebook for ten minutes (drain); after that the server answers that there is a new one.

-labels publishes the label of every row of the gallery, for 'privatemail query -predict'. FILE has
a label for each row, or it is the MODEL, which has those of its rows. Without -labels no label
leaves this machine. With a MODEL the names of its columns are published with the map, where it has
some, so that clients can take theirs by name.

Another machine can reach an address of -listen that is not loopback, so that one needs -tls-cert
and -tls-key, or -insecure where something else encrypts. -client-ca asks clients for certificates,
-tokens for a token; certificates that change are read again. -admin has /metrics, /livez, /readyz,
/debug/pprof/ and the status page with counts of requests, without a token and without TLS: an
address that others can reach needs -insecure. Sockets called public and admin that systemd hands
over take the place of both addresses.

One client, by token or address, has at most the -client-share of everything that is limited:
requests, connections, and places and memory of mode sealed. A request beyond a limit waits a
second for its place, unread, and is then refused. Behind a proxy all clients have one address: use
tokens, or -client-share 1. A SHARD has no share unless it is given: its clients are front ends.

-limits names a file of JSON with the limits that are rarely changed, such as
{"drain": "5m", "connections": 500}. Its times, with their defaults, are:

  drain        a replaced gallery still answers (10m)
  header       the head of a request must come (10s)
  read         a whole request must come (30s; after 5 s its body at 16 KiB a second)
  idle         a connection may be without requests (2m)
  stall        a client may take nothing of its answer (30s)
  delay        at the end, the service says that it is not ready and goes on (0s)
  shutdown     at the end, requests that run may go on (30s)
  sealed_wait  a query of mode sealed waits for others that share its pass (0s)

Its numbers are connections (16 times -max-requests, or what the limit of open files leaves), burst,
the requests of a client at once with -rate (twice -rate, at least 8), and sealed_most, the queries
that share a pass (16).

SIGTERM and Ctrl-C end the service: /readyz says no, new connections are refused after delay, and
requests that run have the time of shutdown. The log on standard error has route, status, bytes,
time and address of every request, and nothing of what was asked. docs/service.md has more,
docs/openapi.json has every path.`,
		Examples: []string{
			"privatemail serve birds.model -epsilon 4",
			"privatemail serve birds.model -sealed -records names.txt",
			"privatemail serve birds.model -epsilon 4 -labels birds.model",
			"privatemail serve birds.1of3.shard",
			"privatemail serve birds.gallery -listen 0.0.0.0:8480 -tls-cert cert.pem -tls-key key.pem -tokens tokens.txt -rate 10",
		},
		Common: []string{"epsilon", "sealed", "records", "labels", "gallery", "rebuild", "listen", "tls-cert", "tls-key", "tokens", "rate", "client-share", "max-requests", "limits", "log"},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Without: map[string]string{
			"shards":          "a front end is the verb front",
			"drain":           "-limits FILE has it",
			"delay":           "-limits FILE has it",
			"shutdown":        "-limits FILE has it",
			"max-connections": "-limits FILE has it, as connections",
		},
		Define: settings.Steered[Flags],
	}
}

// Front returns the verb front.
func Front() cli.Verb {
	return cli.Verb{
		Name:     "front",
		Summary:  "answer private queries from shards on other servers",
		Synopsis: []string{"URL URL... [FLAGS]"},
		About: `
A gallery that is too large or too busy for one machine is split ('privatemail
split'), and each shard is served by 'privatemail serve SHARD'. front holds no
rows: it sends every request to all shards, as it came, and puts their answers
together. Clients get what one server with all rows answers, byte by byte, in
the modes cells and all. The URLs name all shards in their order.`,
		More: `
A shard that is missing makes requests fail with status 503, which names it; they are answered again
when it is back. There may be several front ends. Shards on other machines need https, or -insecure
where something else encrypts. The flags about clients are those of serve: 'privatemail help serve
-all' explains them, -labels and -limits. docs/service.md has more.`,
		Examples: []string{
			"privatemail front https://one:8480 https://two:8480 https://three:8480",
			"privatemail front https://one:8480 https://two:8480 -token-file shards.token -listen 0.0.0.0:8480 -tls-cert cert.pem -tls-key key.pem -tokens tokens.txt",
		},
		Common: []string{"token-file", "ca", "cert", "key", "timeout", "listen", "tls-cert", "tls-key", "tokens", "rate", "client-share", "max-requests", "limits", "log"},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Without: map[string]string{
			"sealed":  "each shard would have its own epoch and hint, and clients know one; serve the sealed gallery from one machine",
			"records": "records belong to mode sealed, which one machine serves",
			"epsilon": "a front end holds no rows",
		},
		Define: settings.Steered[frontFlags],
	}
}

// Flags are those of serve; a front end has the part about clients.
type Flags struct {
	work               settings.Work
	listen, admin      string
	insecure           bool
	cert, key, clients string
	tokens             string
	name, labels       string
	logForm, logLevel  string
	limitsFile         string
	limits             service.Settings
	cells              cellsFlags
	sealed             sealedFlags
	shards             *shardsFlags    // nil where rows are here
	Set                map[string]bool // flags that were given
	log                *slog.Logger    // writes to standard error
}

func (f *Flags) Define(fs *flag.FlagSet) {
	f.work.Define(fs)
	f.defineClients(fs)
	f.defineLabels(fs)
	f.cells.Define(fs)
	f.sealed.Define(fs)
}

func (f *Flags) defineLabels(fs *flag.FlagSet) {
	fs.StringVar(&f.labels, "labels", "", "publish the labels of the rows, from `FILE` or the MODEL\nFILE has one for each row of the gallery")
}

// defineClients declares the flags about clients and the service.
func (f *Flags) defineClients(fs *flag.FlagSet) {
	f.limits = defaultLimits()
	fs.StringVar(&f.listen, "listen", "127.0.0.1:8480", "answer requests at `ADDRESS`")
	fs.StringVar(&f.admin, "admin", "127.0.0.1:8481", "have metrics and profiles at `ADDRESS`, or none")
	fs.BoolVar(&f.insecure, "insecure", false, "let others reach addresses without TLS")
	fs.StringVar(&f.cert, "tls-cert", "", "show the certificate of `FILE` (PEM)\nwith those that signed it")
	fs.StringVar(&f.key, "tls-key", "", "`FILE` with the key of -tls-cert")
	fs.StringVar(&f.clients, "client-ca", "", "let in clients with a certificate that one of `FILE` has signed")
	fs.StringVar(&f.tokens, "tokens", "", "let in clients with a token of `FILE`, one in each line")
	fs.StringVar(&f.name, "name", "", "call the gallery `NAME`\n(default: the name of its file)")
	settings.ChoiceVar(fs, &f.logForm, "log", "text", []string{"text", "json"}, "write the log as text or json: `HOW`")
	settings.ChoiceVar(fs, &f.logLevel, "log-level", "info", []string{"debug", "info", "warn", "error"}, "write records of this `LEVEL` and above: debug, info, warn or error\nRequests are info")
	fs.StringVar(&f.limitsFile, "limits", "", "take rare limits and times from `FILE` (JSON)\nsuch as {\"drain\": \"5m\"}")
	s := &f.limits
	cli.CountVar(fs, &s.MaxRequests, "max-requests", 256, "answer at most `N` requests at a time")
	settings.NumberVar(fs, &s.Share, "client-share", 0.25, settings.Share(), "a client gets at most `SHARE` of the limits")
	settings.NumberVar(fs, &s.Rate, "rate", 0, settings.Positive(), "answer `R` requests a second of each client\nby token or address (default: no limit)")
}

func (f *Flags) Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) (err error) {
	if len(names) != 1 {
		return cli.Usagef("want one MODEL, GALLERY or SHARD, got %d names", len(names))
	}
	f.Set = set
	return f.start(ctx, e, names[0])
}

// start checks the flags and serves; file is "" for a front end.
func (f *Flags) start(ctx context.Context, e *cli.Env, file string) (err error) {
	f.log = f.logger(e)
	if f.logForm == "json" {
		restore := logAll(e, f.log, &err)
		defer restore()
	}
	if err := f.Check(); err != nil {
		return err
	}
	if f.limitsFile != "" {
		if err := readLimits(f.limitsFile, &f.limits); err != nil {
			return err
		}
		if f.limits.Burst > 0 && !f.Set["rate"] {
			return cli.Usagef("%s has a burst, and that needs -rate", f.limitsFile)
		}
	}
	return f.serve(ctx, e, file)
}

// Check refuses flags that lack others.
func (f *Flags) Check() error {
	switch {
	case (f.cert == "") != (f.key == ""):
		return cli.Usagef("-tls-cert and -tls-key go together: a certificate, and its key")
	case f.clients != "" && f.cert == "":
		return cli.Usagef("-client-ca needs -tls-cert and -tls-key: certificates of clients are part of TLS")
	}
	if err := f.sealed.check(f.Set); err != nil {
		return err
	}
	if err := f.checkAddresses(); err != nil || f.shards == nil {
		return err
	}
	return f.shards.check(f.insecure)
}

// checkAddresses refuses addresses that others can reach if nothing encrypts. A name other than
// localhost may stand for any address.
func (f *Flags) checkAddresses() error {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return cli.Usagef("-listen: want a host and a port, such as 127.0.0.1:8480")
	}
	if !loopback.Host(host) {
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
	if !loopback.Host(host) {
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
	s := f.limits
	s.Tokens, s.Log, s.Release = tokens, f.log, cli.ReadVersion().Version
	if !f.Set["client-share"] {
		s.Share = 0 // a shard has another default
	}
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
