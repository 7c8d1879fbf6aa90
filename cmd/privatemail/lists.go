package main

import (
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// epsilonsVar defines the flag for a list of epsilons, sorted.
func epsilonsVar(fs *flag.FlagSet, p *[]float64, name string, value []float64, usage string) {
	*p = value
	fs.Var(&epsilons{p}, name, usage)
}

type epsilons struct{ p *[]float64 }

// What the mechanisms can be calibrated to.
const minEpsilon, maxEpsilon = 1e-6, 100

func (v *epsilons) Set(s string) error {
	var list []float64
	for _, word := range strings.Split(s, ",") {
		epsilon, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(epsilon >= minEpsilon && epsilon <= maxEpsilon) {
			return errors.New("want numbers above 0, from 1e-6 to 100, with commas between, such as 0.5,1,2")
		}
		list = append(list, epsilon)
	}
	slices.Sort(list)
	*v.p = slices.Compact(list)
	return nil
}

func (v *epsilons) String() string {
	if v.p == nil {
		return ""
	}
	return join(*v.p)
}

// seedsVar defines a flag for a list of seeds; a..b are all from a to b.
func seedsVar(fs *flag.FlagSet, p *[]uint64, name string, value []uint64, usage string) {
	*p = value
	fs.Var(&seeds{p}, name, usage)
}

type seeds struct{ p *[]uint64 }

// maxSeeds bounds what a..b may stand for.
const maxSeeds = 10000

func (v *seeds) Set(s string) error {
	bad := fmt.Errorf("want whole numbers with commas between, or a range such as 1..5 of at most %d", maxSeeds)
	var list []uint64
	for _, word := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(strings.TrimSpace(word), "..")
		if !isRange {
			to = from
		}
		lo, err1 := strconv.ParseUint(from, 10, 64)
		hi, err2 := strconv.ParseUint(to, 10, 64)
		if err1 != nil || err2 != nil || hi < lo || hi-lo >= maxSeeds {
			return bad
		}
		for i := range hi - lo + 1 {
			list = append(list, lo+i)
		}
	}
	slices.Sort(list)
	*v.p = slices.Compact(list)
	return nil
}

func (v *seeds) String() string {
	if v.p == nil {
		return ""
	}
	return join(*v.p)
}

// join writes a list with commas between.
func join[T any](list []T) string {
	words := make([]string, len(list))
	for i, v := range list {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ",")
}
