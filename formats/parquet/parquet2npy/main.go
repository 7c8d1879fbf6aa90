// The command parquet2npy turns a Parquet file into a folder that privatemail accepts as
// FEATURES: features.npy, columns.csv with the names of its columns and, if the file has
// labels, labels.csv.
//
//	parquet2npy -out FOLDER [-columns LIST] [-label-column NAME] FILE.parquet
//
// Columns are chosen as in privatemail for a .csv. A column of lists of one length counts as
// that many columns. Each file is replaced as a whole or not at all.
package main

import (
	"context"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/formats/parquet"
	"github.com/seed-64e14a55/privatemail/internal/mem"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the exit; it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("parquet2npy", flag.ContinueOnError)
	fs.SetOutput(stderr)
	out := fs.String("out", "", "write features.npy, columns.csv and labels.csv to `FOLDER`, which is created if it does not exist; required")
	columns := fs.String("columns", "", "take the features from the columns of `LIST`: names, numbers from 1, ranges such as 2..65, patterns such as 'px*' (default: all but labels and row numbers)")
	label := fs.String("label-column", "", "take the labels from the column `NAME`, a name or a number from 1 (default: one called label, labels, class, target, category, species or y)")
	if err := fs.Parse(args); err == flag.ErrHelp {
		return 0
	} else if err != nil {
		return 2
	}
	if fs.NArg() != 1 || *out == "" {
		fmt.Fprintln(stderr, "parquet2npy: want -out FOLDER and one file: parquet2npy -out FOLDER FILE.parquet")
		return 2
	}
	s := &formats.TableSettings{Columns: *columns, Label: *label, Limit: mem.DefaultLimit()}
	if err := convert(ctx, fs.Arg(0), *out, s, stdout); err != nil {
		fmt.Fprintf(stderr, "parquet2npy: %v\n", err)
		return 1
	}
	return 0
}

// convert writes the folder.
func convert(ctx context.Context, path, folder string, s *formats.TableSettings, stdout io.Writer) error {
	t, err := parquet.Read(ctx, path, s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	labels := filepath.Join(folder, "labels.csv")
	if t.Labels != nil {
		if err := formats.WriteFile(ctx, labels, func(w io.Writer) error { return writeLabels(w, t.Labels) }); err != nil {
			return err
		}
	}
	columns := filepath.Join(folder, "columns.csv")
	if err := formats.WriteFile(ctx, columns, func(w io.Writer) error { return writeNames(w, t.Columns) }); err != nil {
		return err
	}
	features := filepath.Join(folder, "features.npy")
	if err := formats.WriteMatrix(ctx, features, t.Rows, t.Cols, t.Data); err != nil {
		return err
	}
	fmt.Fprintf(stdout, "wrote %s, %d x %d\n", features, t.Rows, t.Cols)
	fmt.Fprintf(stdout, "wrote %s\n", columns)
	if t.Labels != nil {
		fmt.Fprintf(stdout, "wrote %s\n", labels)
	}
	return nil
}

// writeLabels writes a label per line. A missing one is NA, since an empty line would be skipped.
func writeLabels(w io.Writer, labels []string) error {
	c := csv.NewWriter(w)
	c.Write([]string{"label"}) // Error reports whether it failed
	for _, label := range labels {
		if label == "" {
			label = "NA"
		}
		c.Write([]string{label})
	}
	c.Flush()
	return c.Error()
}

// writeNames writes a name per line, in quotes: a name may contain any character.
func writeNames(w io.Writer, names []string) error {
	if _, err := io.WriteString(w, "column\n"); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := fmt.Fprintf(w, "\"%s\"\n", strings.ReplaceAll(name, `"`, `""`)); err != nil {
			return err
		}
	}
	return nil
}
