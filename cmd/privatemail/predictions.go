package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// predictions write the class of each row and its share of votes to a file, and count how often it
// is the label of the row.
type predictions struct {
	names  []string // of classes; nil where they are numbers
	labels []int32  // of the rows, numbered as the classes are; nil where they are not known
	told   int      // rows so far
	none   int      // rows that no row votes for
	scored int      // rows with a label
	right  int
}

// tell counts the class of the next row and appends its line.
func (p *predictions) tell(line []byte, class int32, share float64) []byte {
	if p.labels != nil && p.labels[p.told] >= 0 {
		p.scored++
		if p.labels[p.told] == class {
			p.right++
		}
	}
	p.told++
	if class < 0 {
		p.none++
	}
	line = append(line, quoteField(p.name(class))...)
	line = append(line, ',')
	line = strconv.AppendFloat(line, share, 'g', 6, 64)
	return append(line, '\n')
}

// name is what a class is called, "" for none.
func (p *predictions) name(class int32) string { return className(p.names, class) }

// className is the name of a class, its number where classes have no names, and "" for none.
func className(names []string, class int32) string {
	switch {
	case class < 0:
		return ""
	case names == nil:
		return strconv.Itoa(int(class))
	case int(class) < len(names):
		return names[class]
	}
	return ""
}

// quoteField is a field of a .csv, in quotes where it needs them.
func quoteField(text string) string {
	if !strings.ContainsAny(text, ",;\"\r\n\t #") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// writePredictions writes a file of classes and shares. work gets what writes lines.
func writePredictions(ctx context.Context, path string, work func(put func([]byte) error) error) error {
	return formats.WriteFile(ctx, path, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		b.WriteString("class,share\n") // a failure shows at the next Write or Flush
		err := work(func(line []byte) error {
			_, err := b.Write(line)
			return err
		})
		return errors.Join(err, b.Flush())
	})
}

// checkPredictions refuses a file that cannot be written, one that is an input, and one that is not
// text. others are the other outputs.
func checkPredictions(flagName, path string, inputs []input, others ...string) error {
	if path == "" {
		return nil
	}
	if strings.ToLower(filepath.Ext(path)) != ".csv" && !strings.HasPrefix(path, "/dev/") {
		return cli.Usagef("%s %s: classes and shares are written as text: name a .csv", flagName, path)
	}
	for _, in := range inputs {
		if err := refuseInput(flagName, path, in); err != nil {
			return err
		}
	}
	for _, other := range others {
		if other == "" {
			continue
		}
		if same, err := sameTarget(path, other); err != nil {
			return err
		} else if same {
			return cli.Usagef("two results would go to %s: name another file for one", path)
		}
	}
	return checkPlace(path)
}

// accuracy is the share of the rows with a label for which that class was predicted; nil without any.
func (p *predictions) accuracy() *float64 {
	if p.scored == 0 {
		return nil
	}
	share := float64(p.right) / float64(p.scored)
	return &share
}

// writeFacts prints what was found.
func (p *predictions) writeFacts(t io.Writer, path string) {
	if share := p.accuracy(); share != nil {
		fmt.Fprintf(t, "accuracy\t%.3f of %d rows with a label", *share, p.scored)
		if left := p.told - p.scored; left > 0 {
			fmt.Fprintf(t, "; %d without one do not count", left)
		}
		fmt.Fprintln(t)
	}
	if p.none > 0 {
		fmt.Fprintf(t, "no class\t%d rows, for which no row votes\n", p.none)
	}
	if path != "" {
		fmt.Fprintf(t, "wrote\t%s, class and share of votes of %d rows\n", path, p.told)
	}
}

// anyLabel tells whether a row has a label. Without one it is not known whether labels are names or
// numbers.
func anyLabel(labels []int32) bool {
	return slices.ContainsFunc(labels, func(label int32) bool { return label >= 0 })
}

// numberAs gives labels the numbers that another file has for their names, in place. A class that is
// not there gets a number beyond those names. Labels without names stay.
func numberAs(labels []int32, names, there []string) []int32 {
	number := make(map[string]int32, len(there))
	for i, name := range there {
		number[name] = int32(i)
	}
	for i, label := range labels {
		if label < 0 || names == nil {
			continue
		}
		known, ok := number[names[label]]
		if !ok {
			known = int32(len(there)) + label
		}
		labels[i] = known
	}
	return labels
}
