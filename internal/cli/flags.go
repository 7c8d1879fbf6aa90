package cli

import (
	"errors"
	"flag"
	"io"
	"strconv"
)

// Parse reads flags and names in any order: package flag stops at the first name, so it
// is asked again after each. After "--" everything is a name. The commands parse by
// Program.Run; their tests call Parse itself.
func Parse(fs *flag.FlagSet, args []string) (names []string, err error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		rest := fs.Args()
		if read := len(args) - len(rest); read > 0 && args[read-1] == "--" {
			return append(names, rest...), nil
		}
		if len(rest) == 0 {
			return names, nil
		}
		names, args = append(names, rest[0]), rest[1:]
	}
}

// CountVar defines a flag for a whole number of 1 or more. A default of 0 means none.
func CountVar(fs *flag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var(&count{p}, name, usage)
}

type count struct{ p *int }

func (c *count) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < 1 {
		return errors.New("want a whole number of 1 or more")
	}
	*c.p = v
	return nil
}

func (c *count) String() string {
	if c.p == nil || *c.p == 0 {
		return ""
	}
	return strconv.Itoa(*c.p)
}
