package serve

import (
	"flag"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// sealedFlags say how mode sealed is offered.
type sealedFlags struct {
	on            bool
	cells, probes int
	records       string
}

func (f *sealedFlags) Define(fs *flag.FlagSet) {
	fs.BoolVar(&f.on, "sealed", false, "answer queries under encryption: mode sealed")
	cli.CountVar(fs, &f.cells, "sealed-cells", 0, "with -sealed, lay the rows out in `M` cells\n(default: half the root of their number)")
	cli.CountVar(fs, &f.probes, "probes", 0, "with -sealed, score a query in the `P` nearest cells\n(default: 8)")
	fs.StringVar(&f.records, "records", "", "with -sealed, clients may fetch lines of `FILE`\na text file with a line for each row; the server does not learn which")
}

// check refuses flags that lack others, but for those that depend on the file.
func (f *sealedFlags) check(set map[string]bool) error {
	for _, name := range []string{"sealed-cells", "probes"} {
		if set[name] && !f.on {
			return cli.Usagef("-%s needs -sealed", name)
		}
	}
	return nil
}

// checkRecords refuses records without mode sealed, which a .sealed file offers by itself.
func (f *sealedFlags) checkRecords(offered bool) error {
	if f.records != "" && !f.on && !offered {
		return cli.Usagef("-records needs -sealed: records are fetched under encryption")
	}
	return nil
}
