package query

import (
	"encoding/hex"
	"errors"
	"flag"

	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// sealedFlags are those of mode sealed.
type sealedFlags struct {
	epoch, recordsEpoch wire.Hash
	unconfirmed         bool
	fetch               bool
	recordsOut          string
}

func (f *sealedFlags) Define(fs *flag.FlagSet) {
	hashVar(fs, &f.epoch, "epoch", "the manifest has this `HASH`, known from a second path\n64 hexadecimal digits, not from the server")
	fs.BoolVar(&f.unconfirmed, "unconfirmed-epoch", false, "take the manifest that the server has now\nIt may have made it for you alone, and know you by it; what is encrypted stays hidden")
	fs.BoolVar(&f.fetch, "fetch", false, "also fetch the records of the K nearest rows\nwithout disclosing which")
	fs.StringVar(&f.recordsOut, "records-out", "", "with -fetch, write the records to `FILE`\na JSON object a line (default: print them)")
	hashVar(fs, &f.recordsEpoch, "records-epoch", "with -fetch, the manifest of the records has this `HASH`, from a second path\n64 hexadecimal digits (default: take what the server has)")
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

func (f *sealedFlags) confirmed() bool { return f.epoch != wire.Hash{} }

// check refuses flags that do not go together.
func (f *sealedFlags) check() error {
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
