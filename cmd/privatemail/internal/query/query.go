// Package query is the verb query: it asks servers for the nearest rows without showing its own.
package query

import (
	"context"
	"flag"
	"runtime/debug"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/predictions"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/session"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// The modes of query, which are its verbs.
const (
	ModeCells  = string(session.Cells)
	ModeSealed = string(session.Sealed)
	ModeAll    = string(session.All)
)

// NoEpsilon is what mode sealed says about privacy.
const NoEpsilon = "no epsilon is spent: the query is encrypted; the assumptions are LWE and AES-256, see docs/privacy.md"

// What -changed says.
const (
	changedResend = "resend"
	changedSpend  = "spend"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "query",
		Summary:  "find nearest rows of a served gallery, without showing yours",
		Examples: []string{"privatemail query sealed http://127.0.0.1:8480 rows.npy -unconfirmed-epoch"},
		About: `
Finds the K nearest rows of a served gallery ('privatemail serve') for every row
of ROWS, a file or folder as for embed. No row leaves this machine in the clear.`,
		More: `
The three modes differ in what the server learns of a row, and in what they cost:

  cells    the cells that are asked for, chosen at random with pure epsilon
           -epsilon; a ledger counts it. Fewest bytes.
  sealed   nothing, as long as LWE is hard and AES-256 is good. Some hundred kB.
  all      nothing: the whole gallery comes here once.

docs/query.md and docs/privacy.md have the details.`,
		Verbs: []cli.Verb{verb(ModeCells), verb(ModeSealed), verb(ModeAll)},
	}
}

// verb returns the verb of a mode.
func verb(mode string) cli.Verb {
	v := cli.Verb{
		Name:   mode,
		Prints: cli.PrintsJSON | cli.PrintsProgress,
		Define: func(fs *flag.FlagSet) cli.Action {
			f := &flags{mode: mode}
			f.Define(fs)
			return func(ctx context.Context, e *cli.Env, names []string) error { return f.Run(ctx, e, names) }
		},
	}
	switch mode {
	case ModeCells:
		v.Summary = "ask for a random set of cells, private by epsilon"
		v.Synopsis = []string{"SERVER ROWS -epsilon E -ledger FILE|none -sent FOLDER|none -codebook HASH|-unconfirmed-codebook [FLAGS]"}
		v.Examples = []string{
			"privatemail query cells http://127.0.0.1:8480 rows.npy -epsilon 4 -ledger me.ledger -new-units -sent me.sent -unconfirmed-codebook",
			"privatemail query cells http://127.0.0.1:8480 rows.npy -epsilon 4 -ledger me.ledger -sent me.sent -unconfirmed-codebook -encoding int8 -k 8 -out ids.npy",
		}
		v.Common = []string{"epsilon", "ledger", "new-units", "sent", "codebook", "unconfirmed-codebook", "encoding", "k", "out", "dry-run", "predict", "names", "token-file"}
		v.About = `
Sends a set of cells for each row: the cell of the row is among them by chance,
the rest is random. That is epsilon-private for the whole record, with delta 0.
The rows of these cells are ranked here. The ledger is charged before a set is
sent; a record asked for again is sent the same set, at no cost.`
		v.More = `
A neighbour in a cell that was not sent is not found. A sample of the gallery, which is taken once,
is ranked with the rows that come. The guarantee rests on the generator of random numbers
(docs/privacy.md). The set that was sent for a record is kept in the folder -sent: let nobody else
read it. Sending a set again shows that the record was asked for again.

A record is its content: equal rows are one record, in whatever file they are, and a row that
differs in one value is another, with its own budget. The server sees which rows of a run are
equal. -names is for people and things that have several rows, or whose rows change: its lines name
the records, and what is released for a name adds up in one budget. A name whose row has changed is
refused, unless -changed says what to do. With resend, the last set of the name is sent again and
nothing is spent; its neighbours are those of the row before. With spend, another set is drawn,
the ledger counts it, and the server sees that the row is new.

-codebook is the hash of the codebook from a second path, such as a published page. With
-unconfirmed-codebook the server may have made the codebook for you alone. A codebook that the
folder -sent has not been used with would make each record spend again, whatever the address of the
server is: query stops, unless -accept-new-codebook or the hash says to go on.

-dry-run shows what would be sent, its cost and its bytes. It spends nothing and sends nothing
about a row: it reads the description of the gallery and the codebook, and nothing at all when the
cache has the codebook of -codebook.` + moreOfAll
		v.Without = map[string]string{"delta": "the sets of mode cells are purely epsilon-private: delta is 0"}
	case ModeSealed:
		v.Summary = "ask under encryption; the server learns nothing"
		v.Synopsis = []string{"SERVER ROWS -epoch HASH|-unconfirmed-epoch [-fetch] [FLAGS]"}
		v.Examples = []string{
			"privatemail query sealed http://127.0.0.1:8480 rows.npy -unconfirmed-epoch",
			"privatemail query sealed http://127.0.0.1:8480 rows.npy -unconfirmed-epoch -k 8 -fetch -out ids.npy",
		}
		v.Common = []string{"epoch", "unconfirmed-epoch", "fetch", "records-out", "k", "out", "distances-out", "dry-run", "predict", "labels", "cache", "token-file", "ca"}
		v.About = `
Sends every row under encryption. The server multiplies its gallery into it, and
the scores of the nearest cells are decrypted here. The server learns nothing of
a row as long as LWE is hard and AES-256 is good. Nothing is spent or kept.`
		v.More = `
-epoch is the hash of the manifest of the server from a second path. It confirms the map, too. With
-unconfirmed-epoch the server may have made the manifest for you alone; what is encrypted stays
hidden. A new epoch costs nothing: with -unconfirmed-epoch all rows are encrypted again when one
comes in the middle of a run.

-fetch also fetches the records that the server keeps of the K nearest rows, without disclosing
which: always K for each row. -records-out writes them. The server must not learn from an error what
was decrypted: a missing record is reported, and the exit code is 0.

Equal distances are in the order of slots. -dry-run sends nothing about a row: it reads the
description of the gallery and the manifests.` + moreOfAll
		v.Without = map[string]string{"encoding": "answers have one encoding"}
		for _, name := range []string{"epsilon", "ledger", "sent", "client", "new-units", "other-relation", "at", "names", "changed"} {
			v.Without[name] = NoEpsilon
		}
		for _, name := range []string{"codebook", "unconfirmed-codebook", "accept-new-codebook"} {
			v.Without[name] = "no codebook is used; -epoch HASH confirms what the server publishes"
		}
	case ModeAll:
		v.Summary = "take the whole gallery once and rank it here"
		v.Synopsis = []string{"SERVER ROWS -codebook HASH|-unconfirmed-codebook [FLAGS]"}
		v.Examples = []string{
			"privatemail query all http://127.0.0.1:8480 rows.npy -unconfirmed-codebook",
			"privatemail query all http://127.0.0.1:8480 rows.npy -unconfirmed-codebook -k 8 -out ids.npy",
		}
		v.Common = []string{"codebook", "unconfirmed-codebook", "k", "out", "distances-out", "dry-run", "predict", "labels", "cache", "token-file", "ca"}
		v.About = `
Takes the whole gallery in a compact encoding, once, and ranks it here. The
server learns nothing about a row, so nothing is spent or kept.`
		v.More = `
-codebook is the hash of the codebook from a second path, such as a published page. With
-unconfirmed-codebook the server may have made the codebook for you alone.` + moreOfAll
		v.Without = map[string]string{"encoding": "the gallery comes as int8"}
		for _, name := range []string{"epsilon", "ledger", "sent", "client", "new-units", "other-relation", "at", "names", "changed", "accept-new-codebook"} {
			v.Without[name] = "nothing about a row is sent, so nothing is spent or kept"
		}
	}
	return v
}

// moreOfAll is in the help of every mode.
const moreOfAll = `

-predict writes the class of every row and its share of the votes: a .csv with the columns class
and share. The server must publish the labels of its gallery ('privatemail serve -labels'); all of
them are taken before anything is sent for a row. The K rows that are found vote if they have a
label: of n voters the nearest has n votes, the next n - 1 and the last one 1. Between classes with
equal votes the nearest row decides. Where ROWS have labels, or -labels names some, the output has
the accuracy; labels stay here. Columns are taken by name, in any order, where ROWS and the map of
the server have names; a column that is missing or too much ends the run before anything is sent.

Whatever does not depend on a row (codebook, map, sample, gallery) is kept in the folder -cache by
its hash. Requests go to SERVER alone: redirects are not followed, and proxies of the environment
are used with -proxy only. -out and -distances-out are as for search; a query with fewer than K rows
has -1 and +Inf in the places that are left. On Unix only their owner can read new files, since
answers disclose something about the rows. Ctrl-C leaves no half of a file.`

// flags are those of query.
type flags struct {
	mode, encoding    string
	epsilon           float64
	ledger            string
	at                accounts.Head
	client            string
	newUnits          bool
	otherRelation     bool
	sent              string
	codebook          wire.Hash
	unconfirmed       bool
	acceptNew         bool
	names, changed    string
	k                 int
	out, distancesOut string
	dryRun            bool
	cache             string
	maxMemory         int64
	files             files.Flags
	connection        files.ConnectionFlags
	sealed            sealedFlags
	predict           predictFlags
}

func (f *flags) Define(fs *flag.FlagSet) {
	switch f.mode {
	case ModeCells:
		f.defineCells(fs)
		f.defineCodebook(fs)
	case ModeAll:
		f.defineCodebook(fs)
	case ModeSealed:
		f.sealed.Define(fs)
	}
	cli.CountVar(fs, &f.k, "k", 8, "find the `K` nearest rows")
	f.files.DefineColumns(fs)
	fs.StringVar(&f.out, "out", "", "write the numbers of the nearest rows to `FILE`")
	fs.StringVar(&f.distancesOut, "distances-out", "", "write their distances to `FILE`")
	fs.BoolVar(&f.dryRun, "dry-run", false, "show what would be sent and its cost; spend nothing")
	fs.StringVar(&f.cache, "cache", "", "keep what does not depend on a row in `FOLDER`, or none\n(default: a folder of this program among the user's caches)")
	settings.SizeVar(fs, &f.maxMemory, "max-memory", settings.MemoryUsage())
	f.connection.Define(fs)
	f.predict.Define(fs)
}

// defineCells declares the flags of mode cells alone.
func (f *flags) defineCells(fs *flag.FlagSet) {
	settings.ChoiceVar(fs, &f.encoding, "encoding", "", []string{wire.Float32.String(), wire.Int8.String()}, "rows come as float32 or int8: `HOW`\nint8 is a quarter of the bytes; the same for all rows, since the server sees it (default: float32)")
	settings.NumberVar(fs, &f.epsilon, "epsilon", 0, settings.Positive(), "a record spends pure epsilon `E`, once; required\nthe first time that it is asked for")
	fs.StringVar(&f.ledger, "ledger", "", "spend from the ledger `FILE`, or none; required")
	accounts.HeadVar(fs, &f.at)
	fs.StringVar(&f.client, "client", "", "`NAME` of the client whose budget pays for all records\n(default: each record pays from its own)")
	fs.BoolVar(&f.newUnits, "new-units", false, "records, or the client, may be new to the ledger\nThe report says how many were. Without it one that the ledger does not know is refused: a mistyped name, or a row that was computed again and differs, would be a second budget")
	fs.BoolVar(&f.otherRelation, "other-relation", false, "units may spend whose earlier spends protect other data sets\nsuch as those of privatize; their total is then for what all of them protect. Without it they are refused")
	fs.StringVar(&f.sent, "sent", "", "keep what was sent in `FOLDER`, or none; required\nWhat is kept is sent again at no cost; with none each run pays")
	fs.BoolVar(&f.acceptNew, "accept-new-codebook", false, "go on with a codebook that the folder of -sent has not been used with\nUnder it each record spends again")
	fs.StringVar(&f.names, "names", "", "take the names of the records from `FILE`\na line for each row (default: a record is its content, and equal rows are one)")
	settings.ChoiceVar(fs, &f.changed, "changed", "", []string{changedResend, changedSpend}, "what to do with a name of -names whose row has changed: `WHAT`\nresend sends the last set of the name again and spends nothing; spend draws and pays for another set (default: refuse)")
}

// defineCodebook declares the flags that confirm a codebook.
func (f *flags) defineCodebook(fs *flag.FlagSet) {
	hashVar(fs, &f.codebook, "codebook", "the codebook has this `HASH`, known from a second path\n64 hexadecimal digits, not from the server")
	fs.BoolVar(&f.unconfirmed, "unconfirmed-codebook", false, "take the codebook that the server has now\nIt may have made it for you alone, and know you by it")
}

// confirmed reports whether a second path vouches for the codebook, in mode sealed the epoch.
func (f *flags) confirmed() bool {
	return f.codebook != wire.Hash{} || f.sealed.confirmed()
}

// check refuses flags that do not go together.
func (f *flags) check() error {
	if f.mode == ModeSealed {
		if err := f.sealed.check(); err != nil {
			return err
		}
		return f.connection.Check()
	}
	switch {
	case f.confirmed() && f.unconfirmed:
		return cli.Usagef("-codebook and -unconfirmed-codebook exclude each other: the hash confirms the codebook")
	case !f.confirmed() && !f.unconfirmed:
		return cli.Usagef("-codebook HASH is missing: give the hash of the server's codebook from a second path, or say -unconfirmed-codebook: the server may then have made it for you alone")
	case f.confirmed() && f.acceptNew:
		return cli.Usagef("-codebook and -accept-new-codebook exclude each other: give the hash of the new codebook to -codebook")
	case f.mode == ModeAll:
		return f.connection.Check()
	case f.epsilon == 0:
		return cli.Usagef("-epsilon E is required and has no default; 'query all' needs none and takes the whole gallery")
	case f.ledger == "":
		return cli.Usagef("-ledger FILE is missing: create one with 'privatemail budget create FILE -kind pure -epsilon E', or say -ledger none to count nothing")
	case f.sent == "":
		return cli.Usagef("-sent FOLDER is missing: what was sent is kept there and sent again at no cost; -sent none forgets it, and each run pays")
	case f.changed != "" && f.names == "":
		return cli.Usagef("-changed is about names whose rows change: give the names with -names FILE, or leave it out; without names a row that has changed is another record")
	case f.ledger == accounts.NoLedger && (f.at.Given || f.client != "" || f.newUnits || f.otherRelation):
		return cli.Usagef("-at, -client, -new-units and -other-relation are about a ledger: name one with -ledger FILE, or leave them out")
	}
	return f.connection.Check()
}

func (f *flags) Run(ctx context.Context, e *cli.Env, names []string) error {
	if len(names) != 2 {
		return cli.Usagef("want SERVER and ROWS, got %d names%s; SERVER is an address such as http://127.0.0.1:8480", len(names), listing(names))
	}
	if err := f.check(); err != nil {
		return err
	}
	in, err := f.predict.input(e, &f.files, names[1])
	if err != nil {
		return err
	}
	if err := predictions.Check("-predict", f.predict.out, []files.Input{in}, f.out, f.distancesOut, f.sealed.recordsOut); err != nil {
		return err
	}
	if err := files.CheckAnswerFiles(f.out, f.distancesOut, in); err != nil {
		return err
	}
	if f.names != "" { // it is an input as well
		for _, out := range []struct{ flag, path string }{{"-predict", f.predict.out}, {"-out", f.out}, {"-distances-out", f.distancesOut}} {
			if out.path == "" {
				continue
			}
			if err := files.RefuseInput(out.flag, out.path, files.Input{Features: f.names}); err != nil {
				return err
			}
		}
	}
	if f.sealed.recordsOut != "" {
		if err := files.RefuseInput("-records-out", f.sealed.recordsOut, in); err != nil {
			return err
		}
	}
	defer files.MakePrivate()() // the answers disclose something about the rows
	if f.maxMemory > 0 {
		// What is not needed any more is given back before it adds up to more.
		before := debug.SetMemoryLimit(-1)
		defer debug.SetMemoryLimit(before)
		debug.SetMemoryLimit(min(before, max(f.maxMemory, leastLimit)))
	}
	r, err := open(ctx, e, f, names[0], in)
	if err != nil {
		return err
	}
	defer r.close()
	if f.dryRun {
		return r.plan(ctx, e)
	}
	if err := r.answer(ctx, e); err != nil {
		return err
	}
	if err := r.write(ctx); err != nil {
		return err
	}
	if err := r.show(e); err != nil {
		return err
	}
	r.noteMissing(e)
	return nil
}

// leastLimit is the memory of a program that does next to nothing.
const leastLimit = 64 << 20

// listing is a list of names for a message, "" for none.
func listing(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return ": " + strings.Join(names, " ")
}
