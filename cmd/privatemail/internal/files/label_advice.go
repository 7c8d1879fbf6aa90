package files

import (
	"fmt"
	"strconv"

	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// LabelAdvice names the column of a text file that looks as if it held labels, after "; ",
// and how to say so; "" where there is none.
func LabelAdvice(in Input) string {
	settings := in.FeatureSettings()
	column, name := settings.LabelColumn(in.Features)
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

// mostClasses is the share of rows from which so many different labels are doubtful.
const mostClasses = 0.5

// AskRegression asks whether labels are classes where there are more than half as many as rows.
func AskRegression(e *cli.Env, in Input, y []int32) {
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
	e.Note("%s: %d different labels for %d rows, more than half as many: is this a regression target, a number to predict, or a name for every row? Labels are classes here, and only rows of one class are drawn together: divide the values into ranges, such as tenths, or choose another column of labels; 'privatemail embed' without -alpha and -beta needs none", in.Labels, len(seen), rows)
}

// plainWord reports whether a shell takes a text as one word as it stands.
func plainWord(text string) bool {
	for _, r := range text {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.') {
			return false
		}
	}
	return true
}
