package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// fileFlags say what is read from which file. All verbs with FEATURES have them.
type fileFlags struct{ labels, columns, labelColumn, header string }

func (f *fileFlags) define(fs *flag.FlagSet) {
	fs.StringVar(&f.labels, "labels", "", "read a label per row from `FILE` (default: labels.npy of a FEATURES folder, or the labels in the file of the features)")
	f.defineColumns(fs)
}

// defineColumns is for verbs that have a flag -labels of their own.
func (f *fileFlags) defineColumns(fs *flag.FlagSet) {
	fs.StringVar(&f.columns, "columns", "", "take the features from these columns of a .csv, .tsv or .txt: `LIST` has names, numbers from 1, ranges such as 2..65 and patterns such as 'px*' (default: all but labels and row numbers)")
	fs.StringVar(&f.labelColumn, "label-column", "", "take the labels from this column of a .csv, .tsv or .txt: `NAME` is its name or its number from 1 (default: one called label, labels, class, target, category, species or y)")
	choiceVar(fs, &f.header, "header", "auto", []string{"auto", "yes", "no"}, "whether line 1 of a .csv, .tsv or .txt names the columns: `WHETHER` is auto, yes or no")
}

// resolve finds the files that FEATURES stands for, and tells the user what a text file
// is taken for.
func (f *fileFlags) resolve(e *cli.Env, name string) (input, error) {
	return f.reading(e).resolve(name, f.labels)
}

// queries finds the file of further rows, which need no labels.
func (f *fileFlags) queries(e *cli.Env, name string) (input, error) {
	in, err := f.reading(e).resolve(name, "")
	in.labels = ""
	return in, err
}

// further finds the file of rows that go with others, whose columns -label-column names: these need
// not have it.
func (f *fileFlags) further(e *cli.Env, name, labels string) (input, error) {
	in, err := f.reading(e).resolve(name, labels)
	if f.labelColumn == "" || !errors.Is(err, formats.ErrColumn) {
		return in, err
	}
	without := *f
	without.labelColumn = ""
	if again, failed := without.reading(e).resolve(name, labels); failed == nil {
		return again, nil
	}
	return in, err
}

func (f *fileFlags) reading(e *cli.Env) *reading {
	header := map[string]formats.Header{"yes": formats.WithHeader, "no": formats.NoHeader}[f.header]
	return &reading{env: e, text: formats.TableSettings{Columns: f.columns, Label: f.labelColumn, Header: header}}
}

// reading is how files are read, and what was found in them once they are.
type reading struct {
	env     *cli.Env // nil: nothing is said
	text    formats.TableSettings
	apart   bool     // labels come from another file than features
	rows    int      // of text, as far as a layout tells; 0 where that is not known
	columns []string // the names of the columns of features; nil where they have none
	names   []string // of classes 0, 1 and so on; nil where labels are numbers

	namesFile string // where names of columns are, beside the features; "" for nowhere
	like      named  // whose columns are wanted; without names those that there are
}

// note tells the user something about a file.
func (r *reading) note(format string, args ...any) {
	if r.env != nil {
		r.env.Note(format, args...)
	}
}

// resolve finds the files that FEATURES stands for. Those of -labels, if not empty, take
// the place of labels that come with the features.
func (r *reading) resolve(name, labels string) (input, error) {
	in := input{features: name, labels: labels, read: r}
	file, _ := formats.SplitArray(name)
	info, err := os.Stat(file)
	if err != nil {
		return input{}, missing(name, err)
	}
	if info.IsDir() {
		if in.features, err = findIn(name, featuresNames()); err != nil {
			return in, err
		}
		if in.features == "" {
			return in, fmt.Errorf("%s: a folder without %s; name a file, or a folder that has one", name, featuresName)
		}
		if in.labels == "" {
			if in.labels, err = findIn(name, labelsNames()); err != nil {
				return in, err
			}
		}
		if r.namesFile, err = findIn(name, []string{columnsName}); err != nil {
			return in, err
		}
	}
	r.apart = in.labels != ""
	for _, path := range []string{in.features, in.labels} {
		if strings.HasSuffix(strings.ToLower(path), ".parquet") {
			return in, parquetAdvice(path)
		}
	}
	if file, _ = formats.SplitArray(in.features); strings.HasSuffix(strings.ToLower(file), ".npz") {
		return in, r.findArrays(&in)
	}
	return in, r.findColumns(&in)
}

// parquetAdvice says how to convert a file that this program does not read.
func parquetAdvice(path string) error {
	return fmt.Errorf("%s: Parquet is read by a program of its own, which keeps its large library out of this one: in formats/parquet of the source, run 'go run ./parquet2npy -out FOLDER %s', and name that folder here", path, path)
}

// findArrays finds the arrays of a .npz.
func (r *reading) findArrays(in *input) error {
	file, array := formats.SplitArray(in.features)
	a, err := formats.ReadArchive(file)
	if err != nil {
		return missing(file, err)
	}
	if array == "" && a.Features == "" {
		return fmt.Errorf("%s: no array called features, X, x, data or arr_0; it has %s: name one, as in %s:NAME", file, listed(a.Arrays), file)
	}
	if in.labels == "" && a.Labels != "" && a.Labels != array {
		in.labels = file + ":" + a.Labels
		r.note("%s: labels from the array %s", file, a.Labels)
	}
	if a.Columns != "" && a.Columns != array {
		r.namesFile = file + ":" + a.Columns
	}
	return nil
}

// findColumns finds the columns of text.
func (r *reading) findColumns(in *input) error {
	if r.apart && sameFile(in.labels, in.features) {
		if l, err := formats.ReadLayout(in.features, &formats.TableSettings{Header: r.text.Header}); l != nil && err == nil {
			in.labels, r.apart = "", false // one file of text has both
		}
	}
	settings := in.featureSettings()
	l, err := formats.ReadLayout(in.features, &settings)
	if err != nil {
		return missing(in.features, adviseFile(in.features, err))
	}
	if l == nil {
		if settings.Columns != "" || settings.Label != "" {
			return cli.Usagef("%s: -columns and -label-column choose among the columns of text (.csv, .tsv, .txt, .data), which this is not by its name", in.features)
		}
		return nil
	}
	r.rows = l.Rows
	if err := refuseNoRows(in.features, l.Rows); err != nil {
		return err
	}
	said := "no header"
	if l.Names != nil {
		said = fmt.Sprintf("header in line %d", l.Line)
	}
	said += fmt.Sprintf(": %d feature columns", len(l.Features))
	switch {
	case l.Label >= 0 && in.labels != "":
		said += ", column " + strconv.Itoa(l.Label+1) + " left out: it is called as labels are, and those come from another file"
	case l.Label >= 0:
		in.labels = in.features
		said += ", label column " + r.labelName(l)
	}
	if len(l.LeftOut) > 0 {
		said += ", column " + strconv.Itoa(l.LeftOut[0]+1)
		if more := len(l.LeftOut) - 1; more > 0 {
			said += fmt.Sprintf(" and %d more", more)
		}
		said += " left out: by its name it numbers rows"
	}
	r.note("%s: %s", in.features, said)
	return nil
}

// labelName is what the user calls the column of labels, or one of the names that are
// looked for.
func (r *reading) labelName(l *formats.Layout) string {
	if r.text.Label != "" {
		return strconv.Quote(r.text.Label)
	}
	return strconv.Quote(strings.ToLower(l.Names[l.Label]))
}

// joined tells whether labels are to be read from a column of the features' file.
func (in input) joined() bool {
	return in.labels != "" && in.labels == in.features && in.read != nil && !in.read.apart
}

// settings are those for a file of labels.
func (in input) settings() formats.TableSettings {
	if in.read == nil {
		return formats.TableSettings{}
	}
	return formats.TableSettings{Label: in.read.text.Label, Header: in.read.text.Header}
}

// featureSettings are those for the file of the features. A column that -label-column
// names is one of the file of -labels, if there is one.
func (in input) featureSettings() formats.TableSettings {
	var s formats.TableSettings
	if in.read != nil {
		s = in.read.text
	}
	if in.read != nil && in.read.apart {
		s.Label = ""
	}
	s.SkipLabels = !in.joined()
	s.Limit = mem.Budget()
	if in.read != nil && in.read.env != nil {
		s.Limit /= int64(in.read.env.RanksHere())
	}
	return s
}

// readTable reads the features, with labels where they are in the same file. Text looks
// at the context itself, and tells how far it is.
func (in input) readTable(ctx context.Context) (*formats.Table, error) {
	settings := in.featureSettings()
	text, err := formats.ReadLayout(in.features, &settings)
	if err == nil && in.read != nil {
		if err := in.read.findNames(in, text); err != nil {
			return nil, err
		}
	}
	if ranks := in.ranks(); !ranks.Alone() {
		if t, failed := readShared(ctx, ranks, in.features, settings.Limit, text == nil && err == nil); t != nil || failed != nil {
			return t, failed
		}
	}
	if err != nil {
		return nil, adviseFile(in.features, err)
	}
	if text == nil {
		t, err := await(ctx, func() (*formats.Table, error) { return formats.ReadTable(ctx, in.features, &settings) })
		if err != nil {
			return nil, adviseFile(in.features, err)
		}
		return t, nil
	}
	if in.read != nil && in.read.env != nil {
		m := newMeter(in.read.env)
		defer m.close()
		settings.Progress = func(done, total int64) {
			if total >= 1<<20 { // less is read at once
				m.report(privatemail.Progress{Stage: "reading", Done: int(done >> 10), Total: int(total >> 10)})
			}
		}
	}
	t, err := formats.ReadTable(ctx, in.features, &settings)
	return t, in.adviseText(err)
}

// adviseText is adviseFile for values that are no numbers: they may be labels.
func (in input) adviseText(err error) error {
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "name the column of labels") && !in.joined() && (in.read == nil || in.read.text.Label == "" && in.read.text.Columns == "") {
		if advice := labelAdvice(in); advice != "" {
			return fmt.Errorf("%w%s", err, advice)
		}
	}
	return adviseFile(in.features, err)
}

// findNames takes the names of columns from a header, nil for none, and refuses them before a row is
// read where others are wanted.
func (r *reading) findNames(in input, header *formats.Layout) error {
	if header == nil || header.Names == nil {
		return nil
	}
	r.columns = make([]string, len(header.Features))
	for i, c := range header.Features {
		r.columns[i] = header.Names[c]
	}
	_, err := orderOf(r.like, in.columnsOf())
	return err
}

// take notes what labels there are and returns their numbers.
func (in input) take(l *formats.Labels) []int32 {
	if in.read != nil {
		in.read.names = l.Names
		if n := l.Missing(); n > 0 {
			in.read.note("%s: %d of %d rows have no label", in.labels, n, len(l.Class))
		}
	}
	return l.Class
}

// classNames are the names of classes 0, 1 and so on, once labels are read; nil where
// they are numbers.
func (in input) classNames() []string {
	if in.read == nil {
		return nil
	}
	return in.read.names
}

// adviseFile adds the flag that helps to an error about a file.
func adviseFile(path string, err error) error {
	if err == nil {
		return nil
	}
	file, _ := formats.SplitArray(path)
	text := err.Error()
	switch {
	case strings.Contains(text, "whether there is a header"):
		return fmt.Errorf("%w: -header yes or -header no", err)
	case strings.Contains(text, "the label is not an integer"):
		return fmt.Errorf("%w; labels are classes here: is this a regression target, a number to predict? divide it into ranges first", err)
	case errors.Is(err, formats.ErrLimit):
		return fmt.Errorf("%w, which is what is left of it here; convert the file on a larger machine, or choose fewer columns", err)
	case errors.Is(err, formats.ErrColumn) && strings.HasSuffix(strings.ToLower(file), ".npz"):
		if a, failed := formats.ReadArchive(file); failed == nil {
			return fmt.Errorf("%w; it has %s", err, listed(a.Arrays))
		}
	case errors.Is(err, formats.ErrColumn), strings.Contains(text, "columns of features"), strings.Contains(text, "other columns"):
		return fmt.Errorf("%w; the flags are -columns and -label-column", err)
	}
	return err
}

// listed shows the names of arrays, the first few of many.
func listed(names []string) string {
	const most = 8
	var shown []string
	for _, name := range names[:min(len(names), most)] {
		if len(name) > 40 {
			name = name[:40] + "..."
		}
		shown = append(shown, strings.Trim(strconv.Quote(name), `"`))
	}
	if len(names) == 0 {
		return "none"
	}
	if more := len(names) - most; more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	return strings.Join(shown, ", ")
}
