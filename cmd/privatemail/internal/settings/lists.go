package settings

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/evaluate"
)

// RowsVar defines a flag for a list of row numbers, none by default.
func RowsVar(fs *flag.FlagSet, p *[]int, name, usage string) {
	fs.Var(&value[[]int]{p, parseRows, Join[int]}, name, usage)
}

func parseRows(s string) (list []int, err error) {
	for _, word := range strings.Split(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || v < 0 {
			return nil, errors.New("want row numbers from 0, such as 0,17")
		}
		list = append(list, v)
	}
	return list, nil
}

// EpsilonsVar defines the flag for a list of epsilons, sorted.
func EpsilonsVar(fs *flag.FlagSet, p *[]float64, name string, initial []float64, usage string) {
	*p = initial
	fs.Var(&value[[]float64]{p, parseEpsilons, Join[float64]}, name, usage)
}

// What the mechanisms can be calibrated to.
const minEpsilon, maxEpsilon = 1e-6, 100

func parseEpsilons(s string) (list []float64, err error) {
	for _, word := range strings.Split(s, ",") {
		epsilon, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(epsilon >= minEpsilon && epsilon <= maxEpsilon) {
			return nil, errors.New("want numbers above 0, from 1e-6 to 100, with commas between, such as 0.5,1,2")
		}
		list = append(list, epsilon)
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// SeedsVar defines a flag for a list of seeds; a..b are all from a to b.
func SeedsVar(fs *flag.FlagSet, p *[]uint64, name string, initial []uint64, usage string) {
	*p = initial
	fs.Var(&value[[]uint64]{p, parseSeeds, Join[uint64]}, name, usage)
}

// maxSeeds bounds what a..b may stand for.
const maxSeeds = 10000

func parseSeeds(s string) (list []uint64, err error) {
	for _, word := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(word), "..")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.ParseUint(from, 10, 64)
		hi, err2 := strconv.ParseUint(to, 10, 64)
		if err1 != nil || err2 != nil || hi < lo || hi-lo >= maxSeeds {
			return nil, fmt.Errorf("want whole numbers with commas between, or a range such as 1..5 of at most %d", maxSeeds)
		}
		for i := range hi - lo + 1 {
			list = append(list, lo+i)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// SplitVar defines the flag -split, none by default.
func SplitVar(fs *flag.FlagSet, p *evaluate.Division, usage string) {
	fs.Var(&value[evaluate.Division]{p, parseSplit, ShowSplit}, "split", usage)
}

func parseSplit(s string) (d evaluate.Division, err error) {
	if s == "" {
		return d, nil
	}
	var n []int
	for _, word := range strings.Split(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || v < 1 || v > 1<<30 {
			n = nil
			break
		}
		n = append(n, v)
	}
	switch len(n) {
	case 2:
		return evaluate.Division{Public: n[0], Gallery: n[1]}, nil
	case 3:
		return evaluate.Division{Public: n[0], Queries: n[1], KnownClasses: int32(n[2])}, nil
	}
	return d, errors.New("want two or three whole numbers above 0, with commas between")
}

func ShowSplit(d evaluate.Division) string {
	switch {
	case d == evaluate.Division{}:
		return ""
	case d.KnownClasses > 0:
		return fmt.Sprintf("%d,%d,%d", d.Public, d.Queries, d.KnownClasses)
	}
	return fmt.Sprintf("%d,%d", d.Public, d.Gallery)
}

// Join writes a list with commas between.
func Join[T any](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ",")
}
