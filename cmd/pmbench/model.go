package main

import (
	"flag"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/ranks"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/suites"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func modelVerb() cli.Verb {
	return cli.Verb{
		Name: "model", Summary: "predict what more ranks than there are would take",
		Synopsis: []string{"[-n NUMBERS] [-ranks NUMBERS] [-d D] [-k K] [-mean-neighbours G] [-cores N] [-read GB/s] [-link GB/s] [-latency US] [-json]"},
		About: `
Measures nothing: prints what a truncated graph of uniform points takes on ranks, by a model.
A rank is a machine, and its workers are the cores of the machine. It has all points and the
rows of a slab of them. It receives the rows within the radius of the faces of the slab (the
halo) while it makes the rows that do not need it, and the sums of all chunks of rows afterwards.
The table also has what a rank would receive of the whole iterate. The search has a part that
every rank does, the sorting of all points, and a part that ranks share, the pairs.
docs/scale.md has the formulas.
`,
		Prints:   cli.PrintsJSON,
		Examples: []string{"pmbench model", "pmbench model -d 3 -n 1e8 -ranks 1,8,64"},
		Define: func(fs *flag.FlagSet) cli.Action {
			f := new(ranks.Model)
			fs.StringVar(&f.Rows, "n", "1e6,1e7,1e8,1e9", "`NUMBERS` of rows, with commas")
			fs.StringVar(&f.Ranks, "ranks", "1,4,16,64,256,1024", "`NUMBERS` of ranks, with commas")
			cli.CountVar(fs, &f.D, "d", 2, "`D` dimensions of the points, 1 to 3")
			cli.CountVar(fs, &f.K, "dim", 2, "`K` columns of the iterate")
			fs.Float64Var(&f.Degree, "mean-neighbours", suites.Neighbours, "mean number of neighbours `G`")
			cli.CountVar(fs, &f.Cores, "cores", 32, "`N` workers of a rank")
			fs.Float64Var(&f.Read, "read", 100, "`GB/s` that a rank streams from its memory")
			fs.Float64Var(&f.Madd, "madd", 4, "`G/s`, a thousand million multiply-adds a second, of a worker")
			fs.Float64Var(&f.Link, "link", 10, "`GB/s` that a rank receives from others")
			fs.Float64Var(&f.Latency, "latency", 5, "`US`, microseconds of a message")
			return f.Run
		},
	}
}
