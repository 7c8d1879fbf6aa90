// Package settings has the flags that several verbs share, and how their values are read.
package settings

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Given returns the names of the flags that the user gave.
func Given(fs *flag.FlagSet) map[string]bool {
	set := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { set[f.Name] = true })
	return set
}

// Steered is the Define of a verb with flags of type T, whose Run also gets the names of the flags
// that the user gave.
func Steered[T any, F interface {
	*T
	Define(fs *flag.FlagSet)
	Run(ctx context.Context, e *cli.Env, names []string, set map[string]bool) error
}](fs *flag.FlagSet) cli.Action {
	f := F(new(T))
	f.Define(fs)
	return func(ctx context.Context, e *cli.Env, names []string) error { return f.Run(ctx, e, names, Given(fs)) }
}

// conflict is a pair of flags that must not be used together, and what to do
// about it.
type conflict struct{ one, other, advice string }

func checkConflicts(set map[string]bool, conflicts []conflict) error {
	for _, c := range conflicts {
		if set[c.one] && set[c.other] {
			return cli.Usagef("-%s and -%s exclude each other: %s", c.one, c.other, c.advice)
		}
	}
	return nil
}

// limits is the range of a number.
type limits struct {
	ok   func(float64) bool
	want string
}

func AnyNumber() limits   { return limits{func(float64) bool { return true }, "a number"} }
func Positive() limits    { return limits{func(v float64) bool { return v > 0 }, "a number above 0"} }
func notNegative() limits { return limits{func(v float64) bool { return v >= 0 }, "0 or more"} }
func Share() limits {
	return limits{func(v float64) bool { return v > 0 && v <= 1 }, "a number above 0 and up to 1"}
}
func Fraction() limits {
	return limits{func(v float64) bool { return v > 0 && v < 1 }, "a number between 0 and 1"}
}

// value is a flag for a T: how it is read, and how its default is shown in the help,
// "" for none.
type value[T any] struct {
	p    *T
	read func(string) (T, error)
	show func(T) string
}

func (v *value[T]) Set(s string) error {
	read, err := v.read(s)
	if err == nil {
		*v.p = read
	}
	return err
}

func (v *value[T]) String() string {
	if v.p == nil { // package flag asks a zero value, too
		return ""
	}
	return v.show(*v.p)
}

// unlessZero shows a default; 0 stands for none.
func unlessZero[T comparable](v T) string {
	var zero T
	if v == zero {
		return ""
	}
	return fmt.Sprint(v)
}

// NumberVar defines a flag for a finite number within limits. A default of 0
// stands for none.
func NumberVar(fs *flag.FlagSet, p *float64, name string, initial float64, l limits, usage string) {
	*p = initial
	fs.Var(&value[float64]{p, func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || !l.ok(v) {
			return 0, fmt.Errorf("want %s", l.want)
		}
		return v, nil
	}, unlessZero[float64]}, name, usage)
}

// WholeVar defines a flag for a whole number of 0 or more.
func WholeVar(fs *flag.FlagSet, p *int, name string, initial int, usage string) {
	*p = initial
	fs.Var(&value[int]{p, func(s string) (int, error) {
		v, err := strconv.Atoi(s)
		if err != nil || v < 0 {
			return 0, errors.New("want a whole number of 0 or more")
		}
		return v, nil
	}, unlessZero[int]}, name, usage)
}

// SeedVar defines the flag -seed, 1 by default. Any number is a seed.
func SeedVar(fs *flag.FlagSet, p *uint64, usage string) {
	*p = 1
	fs.Var(&value[uint64]{p, func(s string) (uint64, error) {
		v, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			return 0, errors.New("want a whole number from 0 to 2^64-1")
		}
		return v, nil
	}, func(v uint64) string { return strconv.FormatUint(v, 10) }}, "seed", usage)
}

// ChoiceVar defines a flag for one of several words.
func ChoiceVar(fs *flag.FlagSet, p *string, name, initial string, words []string, usage string) {
	*p = initial
	fs.Var(&value[string]{p, func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", fmt.Errorf("want %s%s", strings.Join(words, ", "), cli.DidYouMean(s, words, ""))
		}
		return s, nil
	}, func(s string) string { return s }}, name, usage)
}
