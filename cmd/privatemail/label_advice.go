package main

import (
	"fmt"
	"strconv"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// labelAdvice names the column of a text file that looks as if it held labels, behind "; ",
// and how to say so; "" where there is none.
func labelAdvice(in input) string {
	settings := in.featureSettings()
	column, name := formats.LabelColumn(in.features, &settings)
	if column < 0 {
		return ""
	}
	number, called := strconv.Itoa(column+1), ""
	flag := number
	if name != "" && len(name) <= 40 {
		called, flag = fmt.Sprintf(", %q,", name), strconv.Quote(name)
		if plainWord(name) {
			flag = name
		}
	}
	return fmt.Sprintf("; the text of column %s%s repeats as labels do: -label-column %s takes the labels from it", number, called, flag)
}

// mostClasses is the share of rows from which on so many different labels are a question.
const mostClasses = 0.5

// askRegression asks whether labels are classes where there are more than half as many as rows.
func askRegression(e *cli.Env, in input, y []int32) {
	seen := make(map[int32]bool)
	rows := 0
	for _, label := range y {
		if label >= 0 {
			seen[label] = true
			rows++
		}
	}
	if rows < 3 || float64(len(seen)) <= mostClasses*float64(rows) {
		return
	}
	e.Note("%s: %d different labels for %d rows, more than half as many: is this a regression target, a number to predict, or a name for every row? Labels are classes here, and only rows of one class are drawn together: divide the values into ranges, such as tenths, or choose another column of labels; 'privatemail embed' without -alpha and -beta needs none", in.labels, len(seen), rows)
}

// plainWord tells whether a shell takes a text as one word as it stands.
func plainWord(text string) bool {
	for _, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.') {
			return false
		}
	}
	return true
}
