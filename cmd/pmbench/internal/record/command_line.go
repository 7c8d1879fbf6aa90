package record

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// commandVariables are the variables that decide what is measured.
var commandVariables = []string{"PM_SIMD", "PM_FEATURES"}

// outputFlags are the flags that name where results go, with what stands for the name.
// Recordings travel, and the folders of those who made them say nothing about the figures.
var outputFlags = map[string]string{"record": "FOLDER", "out": "FILE"}

// CommandLine is the command that was run, as one would type it, with the variables that
// decide what is measured and without the names of output files.
func CommandLine(e *cli.Env) string {
	var words []string
	for _, name := range commandVariables {
		if value := os.Getenv(name); value != "" {
			words = append(words, name+"="+shellWord(value))
		}
	}
	if ranks := e.Ranks(); !ranks.Alone() {
		words = append(words, "mpirun", "-n", strconv.Itoa(ranks.Size()))
	}
	words = append(words, e.Program)
	for _, word := range withoutNames(e.Args) {
		words = append(words, shellWord(word))
	}
	return strings.Join(words, " ")
}

// withoutNames returns arguments with words in place of the names of output files.
func withoutNames(args []string) []string {
	out := slices.Clone(args)
	for i, word := range out {
		name, _, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		standIn, ok := outputFlags[name]
		switch {
		case !ok || !strings.HasPrefix(word, "-"):
		case given:
			out[i] = "-" + name + "=" + standIn
		case i+1 < len(out):
			out[i+1] = standIn
		}
	}
	return out
}

// shellWord quotes a word where a shell would read it otherwise.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_=+,./:%@", r)
	}
	switch {
	case word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0:
		return word
	case strings.IndexFunc(word, func(r rune) bool { return !strconv.IsPrint(r) }) >= 0:
		return strconv.QuoteToASCII(word)
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
