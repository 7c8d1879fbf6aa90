// Package show is the verb show: it explains a file that the program has written.
package show

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/accounts"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/report"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
)

func Verb() cli.Verb {
	return cli.Verb{
		Name:     "show",
		Summary:  "explain a file that this program has written",
		Synopsis: []string{"FILE"},
		About: `
Says what a file is and what is in it, by its contents and not by its name. It
changes nothing, and prints no row, query or label of a row. It knows models,
checkpoints, galleries, shards, records, releases, ledgers, messages between
client and server, the memory of a client, results of evaluate, recordings of
pmbench, and matrices.`,
		More: `
The files are a model of fit -model, a checkpoint of embed, a gallery, a shard of one or records
that a server keeps, a release of privatize, a ledger of budget with its head, a message between
client and server (codebook, base sample, request, answer, gallery, map, and those of mode sealed),
whether it was sent or is in the cache of query, a log of the memory of a client, the records of
evaluate (records.jsonl), a recording of pmbench, or a matrix, such as those of -out.

Models, checkpoints, galleries and messages are read as a whole and their checksums compared: a
damaged file is an error. Of a model the names of classes and columns are printed.`,
		Examples: []string{
			"privatemail show birds.model",
			"privatemail show me.ledger -json",
		},
		Prints: cli.PrintsJSON,
		Define: func(*flag.FlagSet) cli.Action { return show },
	}
}

// explanation is what show says about a file: facts in the order in which they are printed.
type explanation struct {
	kind  string // a word
	about string // what such files are
	facts []fact
}

// fact has a name, what is printed, and what -json has for it.
type fact struct {
	name, text string
	value      any
}

// add appends a fact; value is nil where -json has the text.
func (x *explanation) add(name, text string, value any) {
	if value == nil {
		value = text
	}
	x.facts = append(x.facts, fact{name, text, value})
}

// addf is add of a text alone.
func (x *explanation) addf(name, format string, args ...any) {
	x.add(name, fmt.Sprintf(format, args...), nil)
}

// shower explains files of one sort. It gets the first bytes of a file and returns nil
// where the file is of another sort.
type shower func(ctx context.Context, path string, begin []byte) (*explanation, error)

// beginning is how many bytes of a file are looked at to see what it is.
const beginning = 512

func show(ctx context.Context, e *cli.Env, names []string) error {
	path, err := embed.OneName(names, "FILE", "name a file that this program has written")
	if err != nil {
		return err
	}
	begin, size, err := beginOf(path)
	if err != nil {
		return err
	}
	for _, s := range []shower{showSections, showLedger, showRelease, showMessage, showMemory, showRecords, showMeasurements, showRecording, showMatrix} {
		x, err := s(ctx, path, begin)
		if err != nil {
			return err
		}
		if x != nil {
			return x.print(e, path, size)
		}
	}
	return fmt.Errorf("%s: not a file of this program: it begins neither like a model, a checkpoint, a gallery, a ledger, a release, a message, a map, a log of a client's memory, records of evaluate, a recording of pmbench, nor a matrix (.npy, .npz, .fvecs, .fbin, IDX, text)", path)
}

// beginOf returns the first bytes of a file, and its size.
func beginOf(path string) ([]byte, int64, error) {
	info, err := os.Stat(path) // before opening, which would wait on a pipe
	switch {
	case err != nil:
		return nil, 0, files.Missing(path, err)
	case info.IsDir():
		return nil, 0, fmt.Errorf("%s: is a folder; name a file in it", path)
	case !info.Mode().IsRegular():
		return nil, 0, fmt.Errorf("%s: is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	begin := make([]byte, beginning)
	n, err := io.ReadFull(f, begin)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, 0, err
	}
	return begin[:n], info.Size(), nil
}

func (x *explanation) print(e *cli.Env, path string, size int64) error {
	if e.JSON {
		object := map[string]any{"file": path, "kind": x.kind, "bytes": size}
		for _, f := range x.facts {
			object[strings.ReplaceAll(f.name, " ", "_")] = f.value
		}
		return e.Object(object)
	}
	t := report.Facts(e.Stdout)
	fmt.Fprintf(t, "file\t%s, %s\n", path, text.FormatSize(size))
	fmt.Fprintf(t, "kind\t%s: %s\n", x.kind, x.about)
	for _, f := range x.facts {
		fmt.Fprintf(t, "%s\t%s\n", f.name, text.Harmless(f.text))
	}
	return t.Flush()
}

// showSections explains models, checkpoints, galleries, and files of kinds that this program does not know.
func showSections(ctx context.Context, path string, begin []byte) (*explanation, error) {
	if !sections.IsOurs(begin) {
		return nil, nil
	}
	f, err := sections.Open(path, "")
	if err != nil {
		return nil, err
	}
	kind, version, names := f.Kind(), f.Version(), f.Names()
	if err := f.Close(); err != nil {
		return nil, err
	}
	switch kind {
	case "model":
		return ExplainModel(ctx, path)
	case sections.Checkpoint:
		return showCheckpoint(ctx, path)
	case "gallery":
		return showGallery(ctx, path, server.OpenCells)
	case "shard":
		return showGallery(ctx, path, server.OpenShard)
	case "sealed":
		return showSealed(ctx, path)
	case "records":
		return showSealedRecords(ctx, path)
	}
	x := &explanation{kind: "unknown", about: "a file of sections of a kind that this program does not know"}
	x.addf("sections", "%s of version %d: %s", kind, version, strings.Join(names, ", "))
	return x, nil
}

// showLedger explains a ledger. 'privatemail budget show' has its spends.
func showLedger(_ context.Context, path string, _ []byte) (*explanation, error) {
	if !mechanism.IsLedger(path) {
		return nil, nil
	}
	s, err := accounts.ReadLedger(path, accounts.Head{})
	if err != nil {
		return nil, err
	}
	x := &explanation{kind: "ledger", about: "counts what releases have cost"}
	x.addf("budget", "%s for every unit", s.Total)
	x.add("spends", fmt.Sprintf("%d of %d units; 'privatemail budget show' lists them", len(s.Entries), len(s.Balances)), len(s.Entries))
	x.add("head", accounts.HeadOf(s), nil)
	return x, nil
}

// showMemory explains a log of what a client has released, and the key of its memory.
func showMemory(_ context.Context, _ string, begin []byte) (*explanation, error) {
	const log, key = "PMMEMORY", "PMMEMKEY"
	switch {
	case bytes.HasPrefix(begin, []byte(log)):
		x := &explanation{kind: "memory", about: "a log of the sets that the records of a client have released"}
		x.addf("privacy", "keep it as private as the names of the records and as the rows: it may have sets that no ledger has paid for. Do not remove it: a record that is lost is paid for again")
		return x, nil
	case bytes.HasPrefix(begin, []byte(key)):
		x := &explanation{kind: "memory", about: "the key of a memory, by which it knows records again"}
		x.addf("privacy", "keep it as private as the rows: with it and the logs of its folder a guess of a row or of a name can be tested. Do not remove it: without it nothing that the memory holds is found")
		return x, nil
	}
	return nil, nil
}

// showMatrix explains a matrix by its size.
func showMatrix(_ context.Context, path string, _ []byte) (*explanation, error) {
	var x *explanation
	err := formats.StreamMatrix(path, mem.DefaultLimit(), func(r *formats.RowReader) error {
		x = &explanation{kind: "matrix", about: "rows of numbers"}
		x.add("size", fmt.Sprintf("%d x %d", r.Rows, r.Cols), []int{r.Rows, r.Cols})
		if r.Rows == 0 {
			x.addf("rows", "%s", files.WhyNoRows(path))
		}
		return nil
	})
	if errors.Is(err, formats.ErrUnsupported) {
		return nil, nil
	}
	return x, err
}
