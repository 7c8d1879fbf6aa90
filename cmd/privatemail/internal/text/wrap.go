package text

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// InWords lists words with "and" before the last.
func InWords(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Harmless is a text of a file, which anybody may have written, without what a terminal would
// act on.
func Harmless(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return text
	}
	return strconv.Quote(text)
}

// LineWidth is how long lines of tables and notes are at most.
const LineWidth = 100

// Wrap breaks a text into lines of at most the given width.
func Wrap(text string, width int) (lines []string) {
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && len(lines[last])+1+len(word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return slices.Clip(lines)
}
