package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// parse reads flags and names in any order: package flag stops at the first
// name, so it is asked again behind each. Behind "--" everything is a name.
func parse(fs *flag.FlagSet, args []string) (names []string, err error) {
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	for {
		if err := fs.Parse(args); err != nil {
			return nil, explainFlag(fs, err)
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

// explainFlag turns an error of package flag into a usage error, with the
// reason why there is no such flag, or the one that may have been meant.
func explainFlag(fs *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !ok {
		return usagef("%v", err)
	}
	if v, ok := findVerb(fs.Name()); ok && v.without[name] != "" {
		return usagef("there is no flag -%s here: %s", name, v.without[name])
	}
	var known []string
	fs.VisitAll(func(f *flag.Flag) { known = append(known, f.Name) })
	return usagef("there is no flag -%s%s; run 'privatemail %s -h' for the list", name, didYouMean(name, known, "-"), fs.Name())
}

// given tells which flags the user wrote down.
func given(fs *flag.FlagSet) map[string]bool {
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	return set
}

// conflict is a pair of flags that must not be used together, and what to do
// about it.
type conflict struct{ one, other, advice string }

func checkConflicts(set map[string]bool, conflicts []conflict) error {
	for _, c := range conflicts {
		if set[c.one] && set[c.other] {
			return usagef("-%s and -%s exclude each other: %s", c.one, c.other, c.advice)
		}
	}
	return nil
}

// limits is the range of a number.
type limits struct {
	ok   func(float64) bool
	want string
}

func anyNumber() limits   { return limits{func(float64) bool { return true }, "a number"} }
func positive() limits    { return limits{func(v float64) bool { return v > 0 }, "a number above 0"} }
func notNegative() limits { return limits{func(v float64) bool { return v >= 0 }, "0 or more"} }
func fraction() limits {
	return limits{func(v float64) bool { return v > 0 && v < 1 }, "a number between 0 and 1"}
}

// numberVar defines a flag for a finite number within limits. A default of 0
// stands for none.
func numberVar(fs *flag.FlagSet, p *float64, name string, value float64, l limits, usage string) {
	*p = value
	fs.Var(&number{p, l}, name, usage)
}

type number struct {
	p *float64
	limits
}

func (n *number) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || !n.ok(v) {
		return fmt.Errorf("want %s", n.want)
	}
	*n.p = v
	return nil
}

func (n *number) String() string {
	if n.p == nil || *n.p == 0 {
		return ""
	}
	return strconv.FormatFloat(*n.p, 'g', -1, 64)
}

// countVar defines a flag for a whole number of 1 or more. A default of 0
// stands for none.
func countVar(fs *flag.FlagSet, p *int, name string, value int, usage string) {
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

// wholeVar defines a flag for a whole number of 0 or more.
func wholeVar(fs *flag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var(&whole{p}, name, usage)
}

type whole struct{ p *int }

func (w *whole) Set(s string) error {
	v, err := strconv.Atoi(s)
	if err != nil || v < 0 {
		return errors.New("want a whole number of 0 or more")
	}
	*w.p = v
	return nil
}

func (w *whole) String() string {
	if w.p == nil {
		return ""
	}
	return strconv.Itoa(*w.p)
}

// rowsVar defines a flag for a list of row numbers, none by default.
func rowsVar(fs *flag.FlagSet, p *[]int, name, usage string) { fs.Var(&rows{p}, name, usage) }

type rows struct{ p *[]int }

func (r *rows) Set(s string) error {
	*r.p = nil
	for _, word := range strings.Split(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || v < 0 {
			return errors.New("want row numbers from 0, such as 0,17")
		}
		*r.p = append(*r.p, v)
	}
	return nil
}

func (r *rows) String() string {
	if r.p == nil || len(*r.p) == 0 {
		return ""
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*r.p), " ", ","), "[]")
}

// seedVar defines the flag -seed, 1 by default. Any number is a seed.
func seedVar(fs *flag.FlagSet, p *uint64, usage string) {
	*p = 1
	fs.Var(&seed{p}, "seed", usage)
}

type seed struct{ p *uint64 }

func (v *seed) Set(s string) (err error) {
	if *v.p, err = strconv.ParseUint(s, 0, 64); err != nil {
		return errors.New("want a whole number from 0 to 2^64-1")
	}
	return nil
}

func (v *seed) String() string {
	if v.p == nil {
		return ""
	}
	return strconv.FormatUint(*v.p, 10)
}

// choiceVar defines a flag for one of several words.
func choiceVar(fs *flag.FlagSet, p *string, name, value string, words []string, usage string) {
	*p = value
	fs.Var(&choice{p, words}, name, usage)
}

type choice struct {
	p     *string
	words []string
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("want %s%s", strings.Join(c.words, ", "), didYouMean(s, c.words, ""))
	}
	*c.p = s
	return nil
}

func (c *choice) String() string {
	if c.p == nil {
		return ""
	}
	return *c.p
}
