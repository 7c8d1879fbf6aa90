package query

import (
	"context"
	"flag"
	"fmt"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/predictions"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// predictFlags say where the classes of queries go.
type predictFlags struct{ out, labels string }

func (f *predictFlags) Define(fs *flag.FlagSet) {
	fs.StringVar(&f.out, "predict", "", "write the predicted classes of the rows to `FILE`\na .csv with the share of the votes, by the labels that the server publishes of the K nearest rows")
	fs.StringVar(&f.labels, "labels", "", "with -predict, read labels from `FILE`, for the accuracy\nThey stay here (default: labels.npy of a folder, or the labels in the file of ROWS)")
}

// input finds the files of ROWS. Labels are read with -predict alone.
func (f *predictFlags) input(e *cli.Env, flags *files.Flags, name string) (files.Input, error) {
	if f.out != "" {
		return flags.Reading(e).Resolve(name, f.labels)
	}
	if f.labels != "" {
		return files.Input{}, cli.Usagef("-labels needs -predict: labels are read for the accuracy of what it writes")
	}
	return flags.Queries(e, name)
}

// A prediction finds the classes of queries by labels that the server publishes.
type prediction struct {
	predictions.Predictions
	in        files.Input
	out       string
	own       []int32      // labels of the queries as their file has them; nil for none
	published *wire.Labels // of the gallery
}

// prediction returns nil where no classes are wanted.
func (f *predictFlags) prediction() *prediction {
	if f.out == "" {
		return nil
	}
	return &prediction{out: f.out}
}

// open takes the labels of the queries.
func (q *prediction) open(in files.Input, labels []int32) {
	if q == nil {
		return
	}
	q.in = in
	if predictions.AnyLabel(labels) {
		q.own = labels
	}
}

// take takes the labels of the gallery. Others than those of the queries are an error before anything is
// sent for a row.
func (q *prediction) take(published *wire.Labels) error {
	q.published = published
	if q.own != nil && (q.in.ClassNames() == nil) != (published.Names == nil) {
		return fmt.Errorf("%s: its labels and those of the server are names in one and numbers in the other", q.in.Labels)
	}
	return nil
}

// write finds the classes by the k rows found for each query, -1 for none.
func (q *prediction) write(ctx context.Context, ids []int32, k int) error {
	if q == nil {
		return nil
	}
	q.Predictions = predictions.Predictions{Names: q.published.Names, Labels: predictions.NumberAs(q.own, q.in.ClassNames(), q.published.Names)}
	labels := make([]int32, k)
	var line []byte
	return predictions.WritePredictions(ctx, q.out, func(put func([]byte) error) error {
		for ; len(ids) > 0; ids = ids[k:] {
			for i, id := range ids[:k] {
				labels[i] = -1
				if id >= 0 && int(id) < len(q.published.Labels) {
					labels[i] = q.published.Labels[id]
				}
			}
			class, share := supervised.Vote(labels)
			line = q.Add(line[:0], class, share)
			if err := put(line); err != nil {
				return err
			}
		}
		return nil
	})
}

// Report adds the predictions to a report.
func (q *prediction) Report(r Report) Report {
	if q != nil {
		r.Predicted, r.NoClass, r.Labelled, r.Accuracy = q.out, q.None, q.Scored, q.Accuracy()
	}
	return r
}
