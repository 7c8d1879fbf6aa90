package modes

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/paper"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// Paper is Algorithm 1 with a valid mechanism: the proven sensitivity, dummies
// of every class, and no label after the release.
func Paper() evaluate.Mode {
	defaults := paperParams()
	defaults.Epsilon, defaults.Delta = 0.1, 1e-5
	return evaluate.Mode{
		Name: "paper", Title: "Algorithm 1, valid noise",
		Protects: "The whole record of the query, label included, (epsilon, delta), replace-one; labels are dropped after the release. The gallery is the server's own.",
		Bounded:  true, SeesQueryLabels: true, Queries: 40,
		Uses: evaluate.UsesEpsilon | paperAxes, Defaults: defaults,
		Run: runPaper,
	}
}

func runPaper(ctx context.Context, t *evaluate.Task) (*evaluate.Answer, error) {
	// A fixed calibration: the rows of a sweep do not depend on the machine, nor on what
	// else it does while its speed is measured.
	engine, err := privatemail.New(privatemail.WithLent(t.Workers), privatemail.WithCalibration(kernel.Calibration{}))
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	method := paper.DefaultMethod()
	method.Bandwidth, method.Alpha, method.Dim, method.Steps = kernel.Sigma(t.Sigma), t.Alpha, t.Dim, t.Steps
	rows, d := t.Public.Dims()
	rows = min(rows, anchorRows)
	own, shown := numbers(t.PublicLabels), numbers(t.GalleryLabels)
	if err := checkClasses(t, own, shown); err != nil {
		return nil, err
	}
	public, err := paper.NewPublic(t.Public.Slice(0, rows, 0, d).(*mat.Dense).RawMatrix(), own.of(t.PublicLabels[:rows]), max(len(own), len(shown)))
	if err != nil {
		return nil, err
	}
	n, _ := t.Gallery.Dims()
	gallery := paper.Rows{Features: t.Gallery.RawMatrix(), Labels: shown.of(t.GalleryLabels)}
	there, err := paper.NewServer(ctx, engine, gallery, public, method, min(evaluate.ListLength, n), t.Seed)
	if err != nil {
		return nil, err
	}
	here, err := paper.NewClient(engine, public, method, paper.ClientSettings{
		Epsilon: t.Epsilon, Delta: t.Delta, Relation: sensitivity.ReplaceOne,
		LabelMode: release.ModeDropped, Ledger: mechanism.NoLedger,
	})
	if err != nil {
		return nil, err
	}
	return askPaper(ctx, t, here, there, shown.of(t.QueryLabels), method.SigmaQ)
}

// askPaper puts every query, with its label by number, through client and server.
func askPaper(ctx context.Context, t *evaluate.Task, here *paper.Client, there *paper.Server, labels []int32, sigmaQ float64) (*evaluate.Answer, error) {
	a := &evaluate.Answer{Ranking: &evaluate.Ranking{K: evaluate.ListLength}}
	for q, label := range labels {
		question, read, err := here.Ask(ctx, paper.Record{Features: t.Queries.RawRowView(q), Label: label},
			mechanism.Unit{Kind: release.UnitRecord, Name: fmt.Sprintf("query %d", q)})
		if err != nil {
			return nil, err
		}
		answer, err := there.Answer(ctx, question)
		if err != nil {
			return nil, err
		}
		matches, err := read(answer)
		if err != nil {
			return nil, err
		}
		for _, m := range matches {
			a.Ranking.Index = append(a.Ranking.Index, int(m.ID))
		}
		// The query itself moves its row by some 1e-4 of the random start.
		a.Facts = map[string]float64{"noise over the random start": question.Release.Privacy.Sigma / sigmaQ}
	}
	return a, nil
}
