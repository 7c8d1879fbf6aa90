package main

import (
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/load"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func loadVerb() cli.Verb {
	return cli.Verb{
		Name: "load", Summary: "ask a service as many clients at once, and report how long its answers take", Synopsis: []string{"URL [-clients N] [-queries N] [-encoding NAME] [-check GALLERY] [-metrics URL]"},
		About: `Asks a service of 'privatemail serve' for the lists of cells, in mode cells, from many
clients at once, each on its own connection, one query after the other. The cells are
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
			f := &load.Options{}
			cli.CountVar(fs, &f.Clients, "clients", 16, "ask from `N` clients at once")
			cli.CountVar(fs, &f.Queries, "queries", 1000, "ask `N` queries, all clients together")
			fs.StringVar(&f.Encoding, "encoding", "float32", "ask for rows in the encoding `NAME`: float32 or int8")
			fs.StringVar(&f.Check, "check", "", "compare every answer with that of the gallery `FILE`, opened here")
			fs.StringVar(&f.Metrics, "metrics", "", "read the memory of the service from the metrics at `URL`")
			fs.StringVar(&f.Token, "token", "", "send the bearer token `TEXT`")
			fs.BoolVar(&f.Get, "get", false, "get the URL itself, such as a file: what a plain file server reaches")
			fs.BoolVar(&f.Wait, "wait", false, "measure when a line on standard input says so, as suite retrieval does")
			return f.Run
		},
	}
}
