package files

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/progress"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/settings"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/mem"
)

// Flags say what is read from which file. All verbs with FEATURES have them.
type Flags struct{ Labels, columns, labelColumn, header string }

func (f *Flags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.Labels, "labels", "", "read a label per row from `FILE`\n(default: labels.npy of a FEATURES folder, or the labels in the file of the features)")
	f.DefineColumns(fs)
}

// DefineColumns is for verbs that have a flag -labels of their own.
func (f *Flags) DefineColumns(fs *flag.FlagSet) {
	fs.StringVar(&f.columns, "columns", "", "take the features from these columns of text: `LIST`\nof a .csv, .tsv or .txt; it has names, numbers from 1, ranges such as 2..65 and patterns such as 'px*' (default: all but labels and row numbers)")
	fs.StringVar(&f.labelColumn, "label-column", "", "take the labels from this column of text: `NAME`\nof a .csv, .tsv or .txt, by its name or its number from 1 (default: one called label, labels, class, target, category, species or y)")
	settings.ChoiceVar(fs, &f.header, "header", "auto", []string{"auto", "yes", "no"}, "line 1 of text names the columns: `WHETHER`\nis auto, yes or no; for .csv, .tsv and .txt")
}

// Resolve finds the files that FEATURES stands for, and notes what a text file
// is taken for.
func (f *Flags) Resolve(e *cli.Env, name string) (Input, error) {
	return f.Reading(e).Resolve(name, f.Labels)
}

// Queries finds the file of further rows, which need no labels.
func (f *Flags) Queries(e *cli.Env, name string) (Input, error) {
	in, err := f.Reading(e).Resolve(name, "")
	in.Labels = ""
	return in, err
}

// Further finds the file of rows that go with others, whose columns -label-column names: these need
// not have it.
func (f *Flags) Further(e *cli.Env, name, labels string) (Input, error) {
	in, err := f.Reading(e).Resolve(name, labels)
	if f.labelColumn == "" || !errors.Is(err, formats.ErrColumn) {
		return in, err
	}
	without := *f
	without.labelColumn = ""
	if again, failed := without.Reading(e).Resolve(name, labels); failed == nil {
		return again, nil
	}
	return in, err
}

func (f *Flags) Reading(e *cli.Env) *Reading {
	header := map[string]formats.Header{"yes": formats.WithHeader, "no": formats.NoHeader}[f.header]
	return &Reading{Env: e, text: formats.TableSettings{Columns: f.columns, Label: f.labelColumn, Header: header}}
}

// Reading is how files are read, and what was found in them once they are.
type Reading struct {
	Env     *cli.Env // nil: nothing is said
	text    formats.TableSettings
	apart   bool     // labels come from another file than features
	Rows    int      // of text, where a layout says it; 0 where that is not known
	Columns []string // the names of the columns of features; nil where they have none
	names   []string // of classes 0, 1 and so on; nil where labels are numbers

	namesFile string // where names of columns are, next to the features; "" for nowhere
	Like      Named  // whose columns are wanted; without names those that there are
}

// note prints something about a file.
func (r *Reading) note(format string, args ...any) {
	if r.Env != nil {
		r.Env.Note(format, args...)
	}
}

// Resolve finds the files that FEATURES stands for. Those of -labels, if not empty, take
// the place of labels that come with the features.
func (r *Reading) Resolve(name, labels string) (Input, error) {
	in := Input{Features: name, Labels: labels, Read: r}
	file, _ := formats.SplitArray(name)
	info, err := os.Stat(file)
	if err != nil {
		return Input{}, Missing(name, err)
	}
	if info.IsDir() {
		if in.Features, err = findIn(name, featuresNames()); err != nil {
			return in, err
		}
		if in.Features == "" {
			return in, fmt.Errorf("%s: a folder without %s; name a file, or a folder that has one", name, FeaturesName)
		}
		if in.Labels == "" {
			if in.Labels, err = findIn(name, labelsNames()); err != nil {
				return in, err
			}
		}
		if r.namesFile, err = findIn(name, []string{columnsName}); err != nil {
			return in, err
		}
	}
	r.apart = in.Labels != ""
	for _, path := range []string{in.Features, in.Labels} {
		if strings.HasSuffix(strings.ToLower(path), ".parquet") {
			return in, parquetAdvice(path)
		}
	}
	if file, _ = formats.SplitArray(in.Features); strings.HasSuffix(strings.ToLower(file), ".npz") {
		return in, r.findArrays(&in)
	}
	return in, r.findColumns(&in)
}

// parquetAdvice says how to convert a file that this program does not read.
func parquetAdvice(path string) error {
	return fmt.Errorf("%s: Parquet is read by another program, which keeps its large library out of this one: in formats/parquet of the source, run 'go run ./parquet2npy -out FOLDER %s', and name that folder here", path, path)
}

// findArrays finds the arrays of a .npz.
func (r *Reading) findArrays(in *Input) error {
	file, array := formats.SplitArray(in.Features)
	a, err := formats.ReadArchive(file)
	if err != nil {
		return Missing(file, err)
	}
	if array == "" && a.Features == "" {
		return fmt.Errorf("%s: no array called features, X, x, data or arr_0; it has %s: name one, as in %s:NAME", file, Listed(a.Arrays), file)
	}
	if in.Labels == "" && a.Labels != "" && a.Labels != array {
		in.Labels = file + ":" + a.Labels
		r.note("%s: labels from the array %s", file, a.Labels)
	}
	if a.Columns != "" && a.Columns != array {
		r.namesFile = file + ":" + a.Columns
	}
	return nil
}

// findColumns finds the columns of text.
func (r *Reading) findColumns(in *Input) error {
	if r.apart && SameFile(in.Labels, in.Features) {
		if l, err := (&formats.TableSettings{Header: r.text.Header}).ReadLayout(in.Features); l != nil && err == nil {
			in.Labels, r.apart = "", false // one file of text has both
		}
	}
	settings := in.FeatureSettings()
	l, err := settings.ReadLayout(in.Features)
	if err != nil {
		return Missing(in.Features, AdviseFile(in.Features, err))
	}
	if l == nil {
		if settings.Columns != "" || settings.Label != "" {
			return cli.Usagef("%s: -columns and -label-column choose among the columns of text (.csv, .tsv, .txt, .data), which this is not by its name", in.Features)
		}
		return nil
	}
	r.Rows = l.Rows
	if err := RefuseNoRows(in.Features, l.Rows); err != nil {
		return err
	}
	said := "no header"
	if l.Names != nil {
		said = fmt.Sprintf("header in line %d", l.Line)
	}
	said += fmt.Sprintf(": %d feature columns", len(l.Features))
	switch {
	case l.Label >= 0 && in.Labels != "":
		said += ", column " + strconv.Itoa(l.Label+1) + " left out: it is called as labels are, and those come from another file"
	case l.Label >= 0:
		in.Labels = in.Features
		said += ", label column " + r.labelName(l)
	}
	if len(l.LeftOut) > 0 {
		said += ", column " + strconv.Itoa(l.LeftOut[0]+1)
		if more := len(l.LeftOut) - 1; more > 0 {
			said += fmt.Sprintf(" and %d more", more)
		}
		said += " left out: by its name it numbers rows"
	}
	r.note("%s: %s", in.Features, said)
	return nil
}

// labelName is what the user calls the column of labels, or one of the names that are
// looked for.
func (r *Reading) labelName(l *formats.Layout) string {
	if r.text.Label != "" {
		return strconv.Quote(r.text.Label)
	}
	return strconv.Quote(strings.ToLower(l.Names[l.Label]))
}

// joined reports whether labels are read from a column of the features' file.
func (in Input) joined() bool {
	return in.Labels != "" && in.Labels == in.Features && in.Read != nil && !in.Read.apart
}

// settings are those for a file of labels.
func (in Input) settings() formats.TableSettings {
	if in.Read == nil {
		return formats.TableSettings{}
	}
	return formats.TableSettings{Label: in.Read.text.Label, Header: in.Read.text.Header}
}

// FeatureSettings are those for the file of the features. A column that -label-column
// names is one of the file of -labels, if there is one.
func (in Input) FeatureSettings() formats.TableSettings {
	var s formats.TableSettings
	if in.Read != nil {
		s = in.Read.text
	}
	if in.Read != nil && in.Read.apart {
		s.Label = ""
	}
	s.SkipLabels = !in.joined()
	s.Limit = mem.DefaultLimit()
	if in.Read != nil && in.Read.Env != nil {
		s.Limit /= int64(in.Read.Env.RanksHere())
	}
	return s
}

// readTable reads the features, with labels where they are in the same file. Text looks
// at the context itself, and reports progress.
func (in Input) readTable(ctx context.Context) (*formats.Table, error) {
	settings := in.FeatureSettings()
	layout, err := settings.ReadLayout(in.Features)
	if err == nil && in.Read != nil {
		if err := in.Read.findNames(in, layout); err != nil {
			return nil, err
		}
	}
	if ranks := in.ranks(); !ranks.Alone() {
		if t, failed := readShared(ctx, ranks, in.Features, settings.Limit, layout == nil && err == nil); t != nil || failed != nil {
			return t, failed
		}
	}
	if err != nil {
		return nil, AdviseFile(in.Features, err)
	}
	if layout == nil {
		t, err := progress.Await(ctx, func() (*formats.Table, error) { return formats.ReadTable(ctx, in.Features, &settings) })
		if err != nil {
			return nil, AdviseFile(in.Features, err)
		}
		return t, nil
	}
	if in.Read != nil && in.Read.Env != nil {
		m := progress.NewMeter(in.Read.Env)
		defer m.Close()
		settings.Progress = func(done, total int64) {
			if total >= 1<<20 { // less is read at once
				m.Report(privatemail.Progress{Stage: "reading", Done: int(done >> 10), Total: int(total >> 10)})
			}
		}
	}
	t, err := formats.ReadTable(ctx, in.Features, &settings)
	return t, in.adviseText(err)
}

// adviseText is AdviseFile for values that are not numbers: they may be labels.
func (in Input) adviseText(err error) error {
	if err == nil {
		return nil
	}
	if strings.Contains(err.Error(), "name the column of labels") && !in.joined() && (in.Read == nil || in.Read.text.Label == "" && in.Read.text.Columns == "") {
		if advice := LabelAdvice(in); advice != "" {
			return fmt.Errorf("%w%s", err, advice)
		}
	}
	return AdviseFile(in.Features, err)
}

// findNames takes the names of columns from a header, nil for none, and refuses them before a row is
// read where others are wanted.
func (r *Reading) findNames(in Input, header *formats.Layout) error {
	if header == nil || header.Names == nil {
		return nil
	}
	r.Columns = make([]string, len(header.Features))
	for i, c := range header.Features {
		r.Columns[i] = header.Names[c]
	}
	_, err := OrderOf(r.Like, in.ColumnsOf())
	return err
}

// take notes what labels there are and returns their numbers.
func (in Input) take(l *formats.Labels) []int32 {
	if in.Read != nil {
		in.Read.names = l.Names
		if n := l.Missing(); n > 0 {
			in.Read.note("%s: %d of %d rows have no label", in.Labels, n, len(l.Class))
		}
	}
	return l.Class
}

// ClassNames are the names of classes 0, 1 and so on, once labels are read; nil where
// they are numbers.
func (in Input) ClassNames() []string {
	if in.Read == nil {
		return nil
	}
	return in.Read.names
}

// AdviseFile adds the flag that helps to an error about a file.
func AdviseFile(path string, err error) error {
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
			return fmt.Errorf("%w; it has %s", err, Listed(a.Arrays))
		}
	case errors.Is(err, formats.ErrColumn), strings.Contains(text, "columns of features"), strings.Contains(text, "other columns"):
		return fmt.Errorf("%w; the flags are -columns and -label-column", err)
	}
	return err
}

// Listed shows the names of arrays, the first few of many.
func Listed(names []string) string {
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
