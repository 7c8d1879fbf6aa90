package evaluation

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/files"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/align"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/internal/evaluate"
	"github.com/seed-64e14a55/privatemail/internal/evaluate/report"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/internal/plot"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/mechanism/release"
	"github.com/seed-64e14a55/privatemail/paper"
	"github.com/seed-64e14a55/privatemail/post"
	"github.com/seed-64e14a55/privatemail/retrieval/supervised"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// pictures draws embeddings of the first data set under the first seed. Those that
// cannot be made, say of rows without two of one class, are left out with a note:
// the figures of a long run do not depend on them.
func (s *study) pictures(ctx context.Context, e *cli.Env) (groups []report.Group, err error) {
	p, err := evaluate.NewProblem(s.data[0], s.seeds[0])
	if err != nil {
		return nil, err
	}
	options := []privatemail.Option{privatemail.WithCalibration(files.Speed())}
	if s.workers > 0 {
		options = append(options, privatemail.WithWorkers(min(s.workers, runtime.GOMAXPROCS(0)))) // as Sweep takes
	}
	engine, err := privatemail.New(options...)
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	for _, draw := range []func() (*report.Group, error){
		func() (*report.Group, error) { return supervisedPictures(ctx, engine, p) },
		func() (*report.Group, error) { return algorithmPictures(ctx, engine, p, slices.Max(s.epsilons)) },
	} {
		g, err := draw()
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			e.Note("the report lacks pictures: %s", text.Plain(err.Error()))
		default:
			groups = append(groups, *g)
		}
	}
	return groups, nil
}

// drawnRows is how many rows a picture has at most.
const drawnRows = 1000

// firstRows returns the first n rows of x, or all.
func firstRows(x *mat.Dense, n int) *mat.Dense {
	rows, d := x.Dims()
	return x.Slice(0, min(rows, n), 0, d).(*mat.Dense)
}

// picture draws rows in the plane: the two columns that they have, or their two leading principal
// components.
func picture(ctx context.Context, x *mat.Dense, labels []int32, s plot.Scatter) (*plot.Scatter, error) {
	rows := make([]int, x.RawMatrix().Rows)
	for i := range rows {
		rows[i] = i
	}
	p, err := plot.NewPlane(ctx, x.RawMatrix(), rows)
	if err != nil {
		return nil, err
	}
	s.Panels, s.Labels = []plot.Panel{{Points: p.Points}}, labels[:len(rows)]
	return &s, nil
}

// supervisedPictures shows the gallery before and after the embedding.
func supervisedPictures(ctx context.Context, engine *privatemail.Engine, p *evaluate.Problem) (*report.Group, error) {
	recipe := supervised.Classic()
	fit, err := supervised.Fit(ctx, engine, points.Single(p.Gallery.RawMatrix()), p.GalleryLabels, &supervised.Settings{Recipe: &recipe, Unmeasured: true})
	if err != nil {
		return nil, err
	}
	g := &report.Group{
		Title: "The supervised embedding, " + p.Name,
		Text:  "The gallery, two leading principal components each, a colour for each class. One step towards the class draws rows together and leaves them near their neighbours.",
	}
	for _, one := range []struct {
		title, caption string
		x              *mat.Dense
	}{
		{"Prepared rows", "What the map starts from.", p.Gallery},
		{"Map", "Directions in which rows of a class differ are shrunk. A query is placed by this map alone.", pipeline.Widen(fit.Z)},
		{"Embedding", "After the step, which uses the labels of the gallery.", pipeline.Widen(fit.X)},
	} {
		drawn, err := picture(ctx, firstRows(one.x, drawnRows), p.GalleryLabels, plot.Scatter{Title: one.title, Caption: one.caption})
		if err != nil {
			return nil, err
		}
		g.Pictures = append(g.Pictures, drawn)
	}
	return g, nil
}

// The noise of Algorithm 1 and the steps after it, as the text of the pictures says.
const (
	drawnDelta = 1e-5
	drawnSteps = 5
)

// An algorithmEmbedding has the public rows in the embeddings of Algorithm 1. Those of
// the client begin with the query.
type algorithmEmbedding struct {
	server  *mat.Dense
	before  *mat.Dense // client, no noise
	after   *mat.Dense // client, released
	aligned *mat.Dense // client, where the server looks for neighbours
	labels  []int32    // of the public rows
}

// embedAlgorithm makes the embeddings of the first query. Dummies are left out.
func embedAlgorithm(ctx context.Context, engine *privatemail.Engine, p *evaluate.Problem, epsilon float64) (*algorithmEmbedding, error) {
	method := paper.DefaultMethod()
	embed := func(x *mat.Dense, y []int32, seed uint64) (*mat.Dense, error) {
		out, err := engine.Embed(ctx, points.Single(x.RawMatrix()), y, &privatemail.Settings{
			Graph: privatemail.Graph{Bandwidth: method.Bandwidth}, Coefficient: method.Alpha, Table: kernel.GaussianTable(method.Bandwidth),
			AllowUnlabelled: true, Dim: 2, SigmaQ: method.SigmaQ, Seed: seed, Steps: drawnSteps,
		})
		if err != nil {
			return nil, err
		}
		return out.Points, nil
	}
	public, gallery := firstRows(p.Public, drawnRows), firstRows(p.Gallery, drawnRows)
	n, _ := public.Dims()
	g, _ := gallery.Dims()
	out := &algorithmEmbedding{labels: p.PublicLabels[:n]}
	var client, server mat.Dense
	client.Stack(firstRows(p.Queries, 1), public)
	server.Stack(public, gallery)
	there, err := embed(&server, append(slices.Clone(out.labels), p.GalleryLabels[:g]...), p.Seed+1)
	if err != nil {
		return nil, err
	}
	out.server = firstRows(there, n)
	if out.before, err = embed(&client, out.withQuery(), p.Seed); err != nil {
		return nil, err
	}
	if out.after, err = released(ctx, engine, &client, method, p.Seed, epsilon, drawnDelta, drawnSteps); err != nil {
		return nil, err
	}
	similarity, err := align.Find(tail(out.after).RawMatrix(), out.server.RawMatrix())
	if err != nil {
		return nil, err
	}
	aligned, err := similarity.Apply(out.after.RawMatrix())
	if err != nil {
		return nil, err
	}
	out.aligned = mat.NewDense(aligned.Rows, aligned.Cols, aligned.Data)
	return out, nil
}

// withQuery returns the labels of the client's rows.
func (a *algorithmEmbedding) withQuery() []int32 {
	return append([]int32{kernel.Unlabelled}, a.labels...)
}

// algorithmPictures shows the public rows and a query in Algorithm 1: at the
// server, at the client before and after noise, and aligned.
func algorithmPictures(ctx context.Context, engine *privatemail.Engine, p *evaluate.Problem, epsilon float64) (*report.Group, error) {
	a, err := embedAlgorithm(ctx, engine, p, epsilon)
	if err != nil {
		return nil, err
	}
	withQuery := a.withQuery()
	g := &report.Group{
		Title: fmt.Sprintf("Algorithm 1 before and after noise and alignment, %s", p.Name),
		Text:  fmt.Sprintf("Public rows, a colour for each class, in the two-dimensional embeddings of the paper (sigma 6, alpha 0.6, T = 5); the ring is the query. Noise at epsilon %g, delta 1e-5 for the whole record. Two random starts that were averaged a few times share little for an alignment to find.", epsilon),
	}
	for _, one := range []struct {
		title, caption string
		x              *mat.Dense
		labels         []int32
		ringed         []int
	}{
		{"Server", "The public rows, embedded with the gallery.", a.server, a.labels, nil},
		{"Client, no noise", "The same rows, embedded with the query.", a.before, withQuery, []int{0}},
		{"Client, after noise", "The release, and the steps that follow from it.", a.after, withQuery, []int{0}},
		{"Aligned", "The client's rows where the server looks for neighbours.", a.aligned, withQuery, []int{0}},
	} {
		drawn, err := picture(ctx, one.x, one.labels, plot.Scatter{Title: one.title, Caption: one.caption, Ringed: one.ringed})
		if err != nil {
			return nil, err
		}
		g.Pictures = append(g.Pictures, drawn)
	}
	return g, nil
}

// released makes a release of the first step, in which only row 0 is private,
// and goes on from it without labels.
func released(ctx context.Context, engine *privatemail.Engine, x *mat.Dense, m paper.Method, seed uint64, epsilon, delta float64, steps int) (*mat.Dense, error) {
	r, err := engine.Privatize64(ctx, x.RawMatrix(), nil, &privatemail.PrivateSettings{
		Epsilon: epsilon, Delta: delta, Relation: sensitivity.ReplaceOne, LabelMode: release.ModeDropped,
		Ledger: mechanism.NoLedger, Unit: mechanism.Unit{Kind: release.UnitRecord, Name: "query"},
		Bandwidth: m.Bandwidth, Dim: 2, SigmaQ: m.SigmaQ, Seed: seed, NormalizeRows: true, PrivateRows: []int{0},
	})
	if err != nil {
		return nil, err
	}
	out, err := engine.Continue(ctx, r, nil, &post.Settings{Steps: steps})
	if err != nil {
		return nil, err
	}
	return out.Points, nil
}

// tail returns all rows but the first.
func tail(x *mat.Dense) *mat.Dense {
	n, d := x.Dims()
	return x.Slice(1, n, 0, d).(*mat.Dense)
}
