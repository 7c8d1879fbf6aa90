package main

import (
	"os"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// commandVariables are the variables that decide what is measured.
var commandVariables = []string{"PM_SIMD", "PM_FEATURES"}

// commandLine is the command that was run, as one would type it, with the variables that
// decide what is measured.
func commandLine(e *cli.Env) string {
	var words []string
	for _, name := range commandVariables {
		if value := os.Getenv(name); value != "" {
			words = append(words, name+"="+shellWord(value))
		}
	}
	words = append(words, e.Program)
	for _, word := range e.Args {
		words = append(words, shellWord(word))
	}
	return strings.Join(words, " ")
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
