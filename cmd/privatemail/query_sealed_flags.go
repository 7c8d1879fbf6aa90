package main

import (
	"encoding/hex"
	"errors"
	"flag"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// sealedQueryFlags are those of mode sealed.
type sealedQueryFlags struct {
	epoch, recordsEpoch wire.Hash
	unconfirmed         bool
	fetch               bool
	recordsOut          string
}

// sealedQueryFlagNames are the flags that go with mode sealed alone.
var sealedQueryFlagNames = []string{"epoch", "unconfirmed-epoch", "fetch", "records-out", "records-epoch"}

func (f *sealedQueryFlags) define(fs *flag.FlagSet) {
	hashVar(fs, &f.epoch, "epoch", "mode sealed: the hash of the server's manifest, 64 hexadecimal digits `HASH` from a second path and not from the server")
	fs.BoolVar(&f.unconfirmed, "unconfirmed-epoch", false, "mode sealed: take the manifest that the server has now; it may have made it for you alone, and know you by it; what is encrypted stays hidden all the same")
	fs.BoolVar(&f.fetch, "fetch", false, "mode sealed: also fetch the records of the K nearest rows, without disclosing which")
	fs.StringVar(&f.recordsOut, "records-out", "", "with -fetch, write the records to `FILE`, a JSON object a line (default: print them)")
	hashVar(fs, &f.recordsEpoch, "records-epoch", "with -fetch, the hash of the manifest of the records, 64 hexadecimal digits `HASH` from a second path (default: take what the server has)")
}

// hashVar defines a flag for a hash.
func hashVar(fs *flag.FlagSet, to *wire.Hash, name, usage string) {
	fs.Func(name, usage, func(text string) error {
		hash, err := hex.DecodeString(text)
		if err != nil || len(hash) != len(to) {
			return errors.New("want 64 hexadecimal digits")
		}
		*to = wire.Hash(hash)
		return nil
	})
}

func (f *sealedQueryFlags) confirmed() bool { return f.epoch != wire.Hash{} }

// check refuses flags that do not go together in mode sealed.
func (f *sealedQueryFlags) check(set map[string]bool) error {
	for _, name := range []string{"epsilon", "ledger", "memory", "client", "new-units", "other-relation", "at", "names", "changed"} {
		if set[name] {
			return cli.Usagef("-%s has no place in mode sealed: %s; leave it out, or leave out -mode sealed", name, noEpsilon)
		}
	}
	for _, name := range []string{"codebook", "unconfirmed-codebook", "accept-new-codebook", "encoding"} {
		if set[name] {
			return cli.Usagef("-%s has no place in mode sealed: no codebook is used; -epoch HASH confirms what the server publishes", name)
		}
	}
	switch {
	case f.confirmed() && f.unconfirmed:
		return cli.Usagef("-epoch and -unconfirmed-epoch exclude each other: the hash confirms the epoch")
	case !f.confirmed() && !f.unconfirmed:
		return cli.Usagef("-epoch HASH is missing: give the hash of the server's manifest from a second path, or say -unconfirmed-epoch: the server may then have made it for you alone")
	case !f.fetch && (f.recordsOut != "" || f.recordsEpoch != wire.Hash{}):
		return cli.Usagef("-records-out and -records-epoch need -fetch: they are about the records of matches")
	}
	return nil
}

// checkOther refuses flags of mode sealed in another mode.
func (f *sealedQueryFlags) checkOther(set map[string]bool) error {
	for _, name := range sealedQueryFlagNames {
		if set[name] {
			return cli.Usagef("-%s needs -mode sealed", name)
		}
	}
	return nil
}
