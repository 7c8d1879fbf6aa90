package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// An origin says where a recording was made: what its lines say of each key. A key that
// no line has is not known of the recording.
type origin map[string][]string

// originKeys are the keys of lines that say where a recording was made, with the words
// for them.
var originKeys = []struct{ key, words string }{
	{"goos", "system"}, {"goarch", "architecture"}, {"cpu", "processor"}, {"family", "family of processors"}, {"cores", "cores"}, {"level", "level"}, {"choices", "choices"}, {"go", "Go version"},
}

// note takes what a line of results was recorded under.
func (o origin) note(r *benchfmt.Result) {
	for _, k := range originKeys {
		if v := r.GetConfig(k.key); v != "" && !slices.Contains(o[k.key], v) {
			o[k.key] = append(o[k.key], v)
			slices.Sort(o[k.key])
		}
	}
}

// differ reports whether both origins are known for a key and are not the same.
func (o origin) differ(other origin, key string) bool {
	return o[key] != nil && other[key] != nil && !slices.Equal(o[key], other[key])
}

// differences says in words by what two origins differ.
func (o origin) differences(other origin) (out []string) {
	for _, k := range originKeys {
		if o.differ(other, k.key) {
			out = append(out, fmt.Sprintf("%s %s and %s", k.words, originValue(o[k.key]), originValue(other[k.key])))
		}
	}
	return out
}

// originValue writes what a recording says of a key, without control characters and not
// at any length.
func originValue(values []string) string {
	const most = 80
	text := fmt.Sprintf("%+q", strings.Join(values, ", "))
	text = text[1 : len(text)-1]
	if len(text) > most {
		text = text[:most] + "..."
	}
	return text
}

// checkOrigins says by what the origins of two recordings differ. Recordings of
// different systems, processors, numbers of cores or levels are refused unless
// -across is set; those of ab are of one machine. It returns the differences.
func (f *Options) checkOrigins(e *cli.Env, before, after *recording) ([]string, error) {
	differences := before.origin.differences(after.origin)
	if len(differences) == 0 {
		return nil, nil
	}
	said := strings.Join(differences, "; ")
	onlyGo := len(differences) == 1 && before.origin.differ(after.origin, "go")
	if !onlyGo && !f.Across && !f.interleaved {
		return nil, fmt.Errorf("%s and %s were not recorded alike: %s; a difference between them may not come from the program. -across compares them all the same", before.path, after.path, said)
	}
	e.Note("the recordings were not made alike: %s", said)
	if before.origin.differ(after.origin, "go") {
		e.Note("a difference may come from Go, and a yard may be longer or shorter; -metric sec/op compares seconds")
	}
	return differences, nil
}

// acrossMetrics returns the metrics for recordings of two processors, whose yards are
// different units: seconds in place of yards.
func acrossMetrics(metrics []string) (out []string) {
	for _, unit := range metrics {
		switch unit {
		case record.YardsUnit:
			unit = "sec/op"
		case record.CPUYardsUnit:
			unit = record.CPUUnit
		}
		if !slices.Contains(out, unit) {
			out = append(out, unit)
		}
	}
	return out
}

// coresSuffix is what the Go benchmark format puts behind a name: the number of cores.
var coresSuffix = regexp.MustCompile(`-[0-9]+$`)
