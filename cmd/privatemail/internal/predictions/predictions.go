// Package predictions writes the classes predicted for rows, and their accuracy where labels are given.
package predictions

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

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// Predictions write the class of each row and its share of votes to a file, and count how often it
// is the label of the row.
type Predictions struct {
	Names  []string // of classes; nil where they are numbers
	Labels []int32  // of the rows, numbered as the classes are; nil where they are not known
	rows   int      // rows so far
	None   int      // rows that no row votes for
	Scored int      // rows with a label
	right  int
}

// Add counts the class of the next row and appends its line.
func (p *Predictions) Add(line []byte, class int32, share float64) []byte {
	if p.Labels != nil && p.Labels[p.rows] >= 0 {
		p.Scored++
		if p.Labels[p.rows] == class {
			p.right++
		}
	}
	p.rows++
	if class < 0 {
		p.None++
	}
	line = append(line, quoteField(p.name(class))...)
	line = append(line, ',')
	line = strconv.AppendFloat(line, share, 'g', 6, 64)
	return append(line, '\n')
}

// name is what a class is called, "" for none.
func (p *Predictions) name(class int32) string { return className(p.Names, class) }

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

// WritePredictions writes a file of classes and shares. work gets the function that writes lines.
func WritePredictions(ctx context.Context, path string, work func(put func([]byte) error) error) error {
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

// Check refuses a file that cannot be written, one that is an input, and one that is not
// text. others are the other outputs.
func Check(flagName, path string, inputs []files.Input, others ...string) error {
	if path == "" {
		return nil
	}
	if strings.ToLower(filepath.Ext(path)) != ".csv" && !strings.HasPrefix(path, "/dev/") {
		return cli.Usagef("%s %s: classes and shares are written as text: name a .csv", flagName, path)
	}
	for _, in := range inputs {
		if err := files.RefuseInput(flagName, path, in); err != nil {
			return err
		}
	}
	for _, other := range others {
		if other == "" {
			continue
		}
		if same, err := files.SameTarget(path, other); err != nil {
			return err
		} else if same {
			return cli.Usagef("two results would go to %s: name another file for one", path)
		}
	}
	return files.CheckPlace(path)
}

// Accuracy is the share of the rows with a label for which that class was predicted; nil without any.
func (p *Predictions) Accuracy() *float64 {
	if p.Scored == 0 {
		return nil
	}
	share := float64(p.right) / float64(p.Scored)
	return &share
}

// WriteFacts prints what was found.
func (p *Predictions) WriteFacts(t io.Writer, path string) {
	if share := p.Accuracy(); share != nil {
		fmt.Fprintf(t, "accuracy\t%.3f of %d rows with a label", *share, p.Scored)
		if left := p.rows - p.Scored; left > 0 {
			fmt.Fprintf(t, "; %d without one do not count", left)
		}
		fmt.Fprintln(t)
	}
	if p.None > 0 {
		fmt.Fprintf(t, "no class\t%d rows, for which no row votes\n", p.None)
	}
	if path != "" {
		fmt.Fprintf(t, "wrote\t%s, class and share of votes of %d rows\n", path, p.rows)
	}
}

// AnyLabel reports whether a row has a label. Without one it is not known whether labels are names or
// numbers.
func AnyLabel(labels []int32) bool {
	return slices.ContainsFunc(labels, func(label int32) bool { return label >= 0 })
}

// NumberAs gives labels the numbers that another file has for their names, in place. A class that is
// not there gets a number beyond those names. Labels without names stay.
func NumberAs(labels []int32, names, there []string) []int32 {
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
