// Package suites has what pmbench run measures. A suite is a table of cases in a file of its
// own, and All lists the suites. The data of a suite, and the names of its cases, are for
// peers too.
package suites

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A Suite is a table of cases.
type Suite struct {
	Name, About string
	cases       func(l *measure.Lab) []measure.Case
	slice       time.Duration // of one measurement, where operations take microseconds; 0: as long as usual
}

// All lists what run can measure.
func All() []Suite {
	return []Suite{
		{"cells", "building the graph of a million points in 2 and 3 dimensions", cellsCases, 0},
		{"spmm", "the sparse product of a million rows with k columns", spmmCases, 0},
		{"step", "the fused step compared with the product it contains", stepCases, 0},
		{"wide", "a step of the full kernel of unit features at a wide bandwidth, by its polynomial", wideCases, 0},
		{"iterate", "whole runs: five steps, an embedding from points to result, eigenvectors", iterateCases, 0},
		{"search", "building the graph of features in 64 and 512 dimensions, and of points in 8", searchCases, 0},
		{"private", "the private first step: bound, kernel and noise", privateCases, 0},
		{"plan", "the chosen operator compared with all usable ones, over kinds of points and bandwidths", planCases, 0},
		{"concurrent", "1, 4 and 16 callers of one Engine: time and memory of their embeddings, with and without a memory limit", concurrentCases, 0},
		{"scale", "graph and step of 100,000 to 3,000,000 points, with -full to 10,000,000", scaleCases, 0},
		{"grid", "the interpolated kernel of points with a tenth of all others as neighbours", gridCases, 0},
		{"answers", "answers of mode cells, 6.7 MB as float32 and 1.8 MB as int8: written, read and ranked", answersCases, 0},
		{"retrieval", "answers of a service over the loopback, to clients in a second process, compared with a plain file server", retrievalCases, 0},
		{"sealed", "encrypted queries of mode sealed in a gallery of a million rows: answers, client, bytes, and the neighbours that are found", sealedCases, 0},
		{"apply", "placing the rows of a file by a map, into another file, compared with copies of the file", applyCases, 0},
		{"ranks", "building graphs and steps of them by the ranks that mpirun has started, one worker each, with the bytes they receive", ranksCases, 0},
		{"levels", "every inner loop at every level and choice of instructions; fails where what is chosen takes over 1.15 times the best", levelCases, 5 * time.Millisecond},
	}
}

// Choose returns the suites that a flag names, separated by commas, or all.
func Choose(names string) (out []Suite, err error) {
	known := append(Names(), "all")
	switch names {
	case "":
		return nil, cli.Usagef("-suite is missing: want one of %s", strings.Join(known, ", "))
	case "all":
		return All(), nil
	}
	all := All()
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(all, func(s Suite) bool { return s.Name == name })
		if i < 0 {
			return nil, cli.Usagef("there is no suite %q%s; want one of %s", name, cli.DidYouMean(name, Names(), ""), strings.Join(known, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

// ChoosePattern returns the pattern of flag -case; every name matches the empty one.
func ChoosePattern(text string) (*regexp.Regexp, error) {
	pattern, err := regexp.Compile(text)
	if err != nil {
		return nil, cli.Usagef("-case: %v", err)
	}
	return pattern, nil
}

// Names are the names of all suites.
func Names() (names []string) {
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// Pick returns the cases of the suite that match.
func (s Suite) Pick(l *measure.Lab, pattern *regexp.Regexp, full bool) (out []measure.Case) {
	for _, c := range s.cases(l) {
		if (full || !c.Full) && pattern.MatchString(c.Name) {
			out = append(out, c)
		}
	}
	return out
}
