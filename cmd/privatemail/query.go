package main

import (
	"context"
	"flag"
	"runtime/debug"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// The modes of query.
const (
	modeCells   = "cells"
	modeTakeAll = "take-all"
	modeSealed  = "sealed"
)

// What -changed says.
const (
	changedResend = "resend"
	changedSpend  = "spend"
)

func queryVerb() cli.Verb {
	return cli.Verb{
		Name:    "query",
		Summary: "ask a server for the rows of its gallery that are nearest to rows that stay here",
		Synopsis: []string{
			"SERVER ROWS -epsilon E -ledger FILE|none -memory FOLDER|none -codebook HASH|-unconfirmed-codebook [-encoding int8] [-k K] [-out FILE] [FLAGS]",
			"SERVER ROWS -mode take-all -codebook HASH|-unconfirmed-codebook [-k K] [-out FILE] [FLAGS]",
			"SERVER ROWS -mode sealed -epoch HASH|-unconfirmed-epoch [-k K] [-fetch] [-out FILE] [FLAGS]",
		},
		About: `
Finds the K nearest rows of the gallery of a server ('privatemail serve') for every row of ROWS.
SERVER is an address such as http://127.0.0.1:8480 or https://gallery.example. ROWS is a file or
a folder as for embed. Random numbers stay on this machine, and so do features, but for mode
sealed, which sends them encrypted. Labels of ROWS are read with -predict alone, and stay here.

Mode cells sends, for each row, a set of cells: the cell of the row is in it by chance p, and the
rest is random. That is epsilon-private for the record as a whole, with delta 0, as far as the
generator of random numbers is good (docs/privacy.md). The server sends
the rows in these cells, and they are ranked here, together with a sample of the gallery that is
taken once. A neighbour in a cell that was not sent is not found. What was sent for a record is
kept in the folder -memory and sent again whenever the record is asked for again: that costs
nothing, and shows that it was asked for again. Let nobody else read that folder. The ledger ('privatemail budget create') is
charged before a set is sent.

A record is its content: equal rows are one record, in whatever file they are, and a row that
differs in one value is another, with a budget of its own in the ledger. Which of the rows you ask
for are equal shows. -names is for people and things that have several rows, or whose rows change:
its lines name the records, and what is released for a name adds up in one budget. A name whose row
has changed is refused, unless -changed says what to do: resend sends the last set of the name again
and spends nothing, and its neighbours are those of the row before; spend draws another, which the
ledger counts, and shows that the row is a new one.

Mode take-all takes the whole gallery as int8, once, and ranks it here. The server
learns nothing about a row, so it needs no epsilon, no ledger and no memory.

Mode sealed sends every row under encryption. The server multiplies its whole gallery into it
without being able to read it, and the scores of the cells that are nearest to the row are
decrypted here. The server learns nothing about a row as long as LWE is hard and AES-256 is good
(docs/privacy.md), so this mode needs no epsilon, no ledger and no memory; each run encrypts again. -epoch is to
this mode what -codebook is to the others, and confirms the map, too. A new epoch costs
nothing: with -unconfirmed-epoch all rows are encrypted again when one comes in the middle.
-fetch also fetches the records that the server keeps of the K nearest rows, without disclosing
which: always K for each row. -records-out writes them. What is decrypted is never an error: a
missing record is reported, and the exit code is 0, so that nobody asks again because of it.

-predict writes the class of every row and its share of votes: a .csv with the columns class and share. It
needs a server that publishes the labels of its gallery ('privatemail serve -labels'), all of which
are taken before anything is sent for a row. Of the K rows that are found those vote that have
a label, and of n the nearest has n votes, the next n - 1 and the last one 1. The class with most votes is
told, and between equal ones that of the nearest row. Where ROWS have labels, or -labels names some, the
output has the accuracy. Where ROWS and the map of the server have names of columns, columns are taken by
name, in any order, and one that is missing or too much ends the run before anything is sent for a row.

-codebook is the hash of the server's codebook from a second path, such as a published page.
Without one, -unconfirmed-codebook says that the server may have made the codebook for you alone.
Under a codebook that the folder -memory has not been used with, each record would spend its epsilon
again, whatever the address of the server is. query then stops, unless -accept-new-codebook or the
hash says to go on.

What does not depend on a row (codebook, map, sample, gallery) is kept in the folder -cache by its
hash. -dry-run shows what would be sent, what it costs and how many bytes it takes. It spends
nothing and sends nothing about a row: GET /v1/gallery and GET /v1/codebook (in mode sealed GET
/v1/gallery and the manifests), and nothing at all when the cache has the codebook of -codebook.

Requests go to SERVER alone: redirects are not followed, and proxies of the environment are used
with -proxy only. -out and -distances-out are as for search; a query with fewer than K rows has
-1 and +Inf in the places that are left. Equal distances are in the order of row numbers, in
mode sealed in that of slots. On Unix only their owner can read new files, since answers tell about the
rows. Ctrl-C leaves no half of a file, and the next run goes on with the sets that were drawn.`,
		Examples: []string{
			"privatemail query http://127.0.0.1:8480 rows.npy -epsilon 4 -ledger me.ledger -new-units -memory me.memory -unconfirmed-codebook -encoding int8 -k 8 -out ids.npy",
			"privatemail query http://127.0.0.1:8480 rows.npy -mode take-all -unconfirmed-codebook -k 8",
			"privatemail query http://127.0.0.1:8480 rows.npy -mode sealed -unconfirmed-epoch -k 8 -fetch",
		},
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Without: map[string]string{
			"delta": "the sets of mode cells are purely epsilon-private: delta is 0",
		},
		Define: steered[askFlags],
	}
}

// askFlags are those of query.
type askFlags struct {
	mode, encoding    string
	epsilon           float64
	ledger            string
	at                head
	client            string
	newUnits          bool
	otherRelation     bool
	memory            string
	codebook          wire.Hash
	unconfirmed       bool
	acceptNew         bool
	names, changed    string
	k                 int
	out, distancesOut string
	dryRun            bool
	cache             string
	budget            int64
	files             fileFlags
	connection        connectionFlags
	sealed            sealedQueryFlags
	predict           queryPredictFlags
}

func (f *askFlags) define(fs *flag.FlagSet) {
	choiceVar(fs, &f.mode, "mode", modeCells, []string{modeCells, modeTakeAll, modeSealed}, "`MODE` is cells, or take-all: take the whole gallery once, and disclose nothing about a row; or sealed: ask under encryption, and disclose nothing about a row as long as LWE is hard and AES-256 is good")
	choiceVar(fs, &f.encoding, "encoding", "", []string{wire.Float32.String(), wire.Int8.String()}, "`ENCODING` of the rows that are sent back: float32, or int8, which takes a quarter of the bytes; the same for all rows, since it shows (default: float32; take-all has int8)")
	numberVar(fs, &f.epsilon, "epsilon", 0, positive(), "pure epsilon `E` that a record spends when it is first asked for; no default")
	fs.StringVar(&f.ledger, "ledger", "", "spend from the ledger `FILE`, or none; no default")
	headVar(fs, &f.at)
	fs.StringVar(&f.client, "client", "", "`NAME` of the client whose budget pays for all records (default: each record pays from its own)")
	fs.BoolVar(&f.newUnits, "new-units", false, "records, or the client, may be new to the ledger, and the report says how many were; without it one that the ledger does not know is refused, since a mistyped name, or a row that was computed again and differs, would be a second budget")
	fs.BoolVar(&f.otherRelation, "other-relation", false, "units may spend whose earlier spends protect other data sets than requests do, such as those of privatize; their total is then for what all of them protect. Without it they are refused")
	fs.StringVar(&f.memory, "memory", "", "keep what was released in `FOLDER`, to send it again at no cost, or none: then each run pays; no default")
	hashVar(fs, &f.codebook, "codebook", "the hash of the codebook, 64 hexadecimal digits `HASH` from a second path and not from the server")
	fs.BoolVar(&f.unconfirmed, "unconfirmed-codebook", false, "take the codebook that the server has now; it may have made it for you alone, and know you by it")
	fs.BoolVar(&f.acceptNew, "accept-new-codebook", false, "go on when the server has a codebook that the folder of -memory has not been used with, under which each record spends again")
	fs.StringVar(&f.names, "names", "", "take the names of the records from `FILE`, a line for each row (default: a record is its content, and equal rows are one)")
	choiceVar(fs, &f.changed, "changed", "", []string{changedResend, changedSpend}, "`WHAT` becomes of a name of -names whose row is another than before: resend sends again what was sent last for the name and spends nothing, spend draws and pays for another set (default: refuse)")
	cli.CountVar(fs, &f.k, "k", 8, "find the `K` nearest rows")
	f.files.defineColumns(fs)
	fs.StringVar(&f.out, "out", "", "write the numbers of the nearest rows to `FILE`")
	fs.StringVar(&f.distancesOut, "distances-out", "", "write their distances to `FILE`")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show what would be sent and what it costs, and spend nothing")
	fs.StringVar(&f.cache, "cache", "", "keep what does not depend on a row in `FOLDER`, or none (default: a folder of this program among the user's caches)")
	sizeVar(fs, &f.budget, "budget", budgetUsage())
	f.connection.define(fs)
	f.sealed.define(fs)
	f.predict.define(fs)
}

// confirmed tells whether a second path vouches for the codebook, in mode sealed the epoch.
func (f *askFlags) confirmed() bool {
	return f.codebook != wire.Hash{} || f.sealed.confirmed()
}

// check refuses flags that do not go together.
func (f *askFlags) check(set map[string]bool) error {
	if f.mode == modeSealed {
		if err := f.sealed.check(set); err != nil {
			return err
		}
		return f.connection.check()
	}
	if err := f.sealed.checkOther(set); err != nil {
		return err
	}
	if f.mode == modeTakeAll {
		for _, name := range []string{"epsilon", "ledger", "memory", "client", "new-units", "other-relation", "at", "names", "changed", "accept-new-codebook"} {
			if set[name] {
				return cli.Usagef("-%s has no place in mode take-all: nothing about a row is sent, so nothing is spent or remembered; leave it out, or leave out -mode take-all", name)
			}
		}
		if f.encoding == wire.Float32.String() {
			return cli.Usagef("-encoding float32 has no place in mode take-all: the gallery is taken as int8")
		}
	}
	switch {
	case f.confirmed() && f.unconfirmed:
		return cli.Usagef("-codebook and -unconfirmed-codebook exclude each other: the hash confirms the codebook")
	case !f.confirmed() && !f.unconfirmed:
		return cli.Usagef("-codebook HASH is missing: give the hash of the server's codebook from a second path, or say -unconfirmed-codebook: the server may then have made it for you alone")
	case f.confirmed() && f.acceptNew:
		return cli.Usagef("-codebook and -accept-new-codebook exclude each other: give the hash of the new codebook to -codebook")
	case f.mode == modeTakeAll:
		return f.connection.check()
	case f.epsilon == 0:
		return cli.Usagef("-epsilon E is required and has no default; -mode take-all needs none and takes the whole gallery")
	case f.ledger == "":
		return cli.Usagef("-ledger FILE is missing: create one with 'privatemail budget create FILE -kind pure -epsilon E', or say -ledger none to count nothing")
	case f.memory == "":
		return cli.Usagef("-memory FOLDER is missing: what was released is kept there and sent again at no cost; -memory none forgets it, and each run pays")
	case f.changed != "" && f.names == "":
		return cli.Usagef("-changed is about names whose rows change: give the names with -names FILE, or leave it out; without names a row that has changed is another record")
	case f.ledger == noLedger && (f.at.given || f.client != "" || f.newUnits || f.otherRelation):
		return cli.Usagef("-at, -client, -new-units and -other-relation are about a ledger: name one with -ledger FILE, or leave them out")
	}
	return f.connection.check()
}

// wireEncoding is the encoding of the rows that are sent back.
func (f *askFlags) wireEncoding() (wire.Encoding, error) {
	if f.encoding == "" {
		return wire.Float32, nil
	}
	return wire.ParseEncoding(f.encoding)
}

func (f *askFlags) run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error {
	if len(names) != 2 {
		return cli.Usagef("SERVER and ROWS are wanted, got %d names%s; SERVER is an address such as http://127.0.0.1:8480", len(names), listing(names))
	}
	if err := f.check(set); err != nil {
		return err
	}
	in, err := f.predict.input(e, &f.files, names[1])
	if err != nil {
		return err
	}
	if err := checkPredictions("-predict", f.predict.out, []input{in}, f.out, f.distancesOut, f.sealed.recordsOut); err != nil {
		return err
	}
	if err := checkAnswerFiles(f.out, f.distancesOut, in); err != nil {
		return err
	}
	if f.names != "" { // it is an input as well
		for _, out := range []struct{ flag, path string }{{"-predict", f.predict.out}, {"-out", f.out}, {"-distances-out", f.distancesOut}} {
			if out.path == "" {
				continue
			}
			if err := refuseInput(out.flag, out.path, input{features: f.names}); err != nil {
				return err
			}
		}
	}
	if f.sealed.recordsOut != "" {
		if err := refuseInput("-records-out", f.sealed.recordsOut, in); err != nil {
			return err
		}
	}
	defer privateFiles()() // the answers tell about the rows
	if f.budget > 0 {
		// What is not needed any more is given back before it adds up to more.
		before := debug.SetMemoryLimit(-1)
		defer debug.SetMemoryLimit(before)
		debug.SetMemoryLimit(min(before, max(f.budget, leastLimit)))
	}
	a, err := openAsking(ctx, e, f, names[0], in)
	if err != nil {
		return err
	}
	defer a.close()
	if f.dryRun {
		return a.plan(ctx, e)
	}
	began := time.Now()
	if err := a.answer(ctx, e); err != nil {
		return err
	}
	a.seconds = time.Since(began).Seconds()
	if err := a.write(ctx); err != nil {
		return err
	}
	if err := a.show(e); err != nil {
		return err
	}
	if a.sealed != nil {
		for _, text := range a.shortcomings() {
			e.Note("%s", text)
		}
	}
	return nil
}

// leastLimit is what a program takes that does next to nothing.
const leastLimit = 64 << 20

// listing is a list of names for a message, "" for none.
func listing(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, " ")
}
