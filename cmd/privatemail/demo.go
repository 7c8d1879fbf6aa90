package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail"
	"github.com/seed-64e14a55/privatemail/evaluate"
	"github.com/seed-64e14a55/privatemail/formats"
	"github.com/seed-64e14a55/privatemail/internal/digits"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// galleryRows is the number of digits whose labels the demo uses; the others
// are held out.
const galleryRows = 1400

// listLength is the K of Recall@K and P@K.
const listLength = 8

func demoVerb() verb {
	return verb{
		name:     "demo",
		summary:  "embed 1797 handwritten digits and measure the result; no files needed",
		synopsis: []string{"[-out FILE] [-steps T] [-beta B] [-degree G] [-seed Q]"},
		about: fmt.Sprintf(`
Divides the %d images of the embedded UCI digits set by their norms and embeds them in one
run, with the labels of %d of them: the gallery. The labels of the other %d rows are hidden
(-1). Then every held-out row looks for its nearest gallery rows, once among the images and
once in the embedding, rows divided by their norm:

  R@1, R@8   share of held-out rows with their digit among the 1 or 8 nearest
  P@8        share of the 8 nearest that have their digit

The split is a fixed shuffle; -seed chooses another one. One row is 0.0025, and between seeds
1 to 5 R@1 differs by more than the embedding gains: judge it by P@8. FILE gets a picture of the two leading principal components of the
embedding.

Data: E. Alpaydin, C. Kaynak, Optical Recognition of Handwritten Digits (1998), UCI Machine
Learning Repository, https://doi.org/10.24432/C50P49, CC BY 4.0.`, digits.Images, galleryRows, digits.Images-galleryRows),
		examples: []string{"privatemail demo", "privatemail demo -steps 2 -out two-steps.svg"},
		prints:   printsJSON | printsProgress,
		define: func(fs *flag.FlagSet) action {
			f := new(demoFlags)
			f.define(fs)
			return f.run
		},
	}
}

type demoFlags struct {
	work         workFlags
	beta, degree float64
	steps        int
	seed         uint64
	out          string
}

func (f *demoFlags) define(fs *flag.FlagSet) {
	f.work.define(fs)
	numberVar(fs, &f.beta, "beta", 3, positive(), "strength `B` with which equal labels attract each other")
	numberVar(fs, &f.degree, "degree", 20, positive(), "mean number of neighbours `G` of a row")
	countVar(fs, &f.steps, "steps", 1, "number of steps `T`")
	seedVar(fs, &f.seed, "seed `Q` of the split")
	fs.StringVar(&f.out, "out", "privatemail-demo.png", "write a picture to `FILE`, .png or .svg, or none")
}

// noPicture is what -out says to get none.
const noPicture = "none"

func (f *demoFlags) run(ctx context.Context, e *env, names []string) error {
	began := time.Now()
	if len(names) > 0 {
		return usagef("names are not wanted, got %q: the demo brings its own data; use embed for files", names[0])
	}
	if err := f.checkOut(); err != nil {
		return err
	}
	o, err := f.embed(ctx, e)
	if err != nil {
		return err
	}
	if err := o.measure(ctx, f.work.workers); err != nil {
		return err
	}
	if err := f.draw(ctx, o); err != nil {
		return err
	}
	return f.show(e, o, time.Since(began))
}

func (f *demoFlags) checkOut() error {
	if f.out == noPicture {
		return nil
	}
	switch strings.ToLower(filepath.Ext(f.out)) {
	case ".png", ".svg":
		return checkPlace(f.out)
	}
	return usagef("-out %s: a picture is .png or .svg; -out %s leaves it out", f.out, noPicture)
}

// outcome is what the demo has found out.
type outcome struct {
	truth            []int32
	gallery, heldOut []int // rows with and without their label
	raw              blas32.General
	embedding        *privatemail.Embedding
	unit             *mat.Dense // rows of the embedding divided by their norm
	before, after    *evaluate.Scores
}

// embed embeds all digits, the held-out ones without their labels.
func (f *demoFlags) embed(ctx context.Context, e *env) (*outcome, error) {
	images, truth := digits.Load()
	order := points.Permutation(images.Rows, f.seed)
	o := &outcome{truth: truth, gallery: order[:galleryRows], heldOut: order[galleryRows:], raw: images}
	if err := points.NormalizeRows(o.raw, images); err != nil {
		return nil, err
	}
	shown := make([]int32, len(truth))
	copy(shown, truth)
	for _, row := range o.heldOut {
		shown[row] = kernel.Unlabelled
	}
	engine, stop, err := e.engine(f.work)
	if err != nil {
		return nil, err
	}
	defer stop()
	o.embedding, err = engine.Embed(ctx, o.raw, shown, &privatemail.Settings{
		MeanDegree: f.degree, Form: kernel.Attract, Coefficient: f.beta, AllowUnlabelled: true, Steps: f.steps,
	})
	if err != nil {
		return nil, explain(err, input{features: "digits"})
	}
	o.unit = mat.DenseCopyOf(o.embedding.Points)
	for i := range images.Rows {
		points.Normalize(o.unit.RawRowView(i)) // a zero row stays as it is
	}
	return o, nil
}

// measure searches the gallery for each held-out row, in both spaces.
func (o *outcome) measure(ctx context.Context, workers int) error {
	settings := &evaluate.SearchSettings{Workers: workers}
	before, err := evaluate.NearestWithin(ctx, o.raw, o.heldOut, o.gallery, listLength, settings)
	if err != nil {
		return err
	}
	after, err := evaluate.NearestWithin(ctx, o.unit.RawMatrix(), o.heldOut, o.gallery, listLength, settings)
	if err != nil {
		return err
	}
	asked := evaluate.Pick(o.truth, o.heldOut)
	if o.before, err = before.Score(asked, o.truth, 1, listLength); err != nil {
		return err
	}
	o.after, err = after.Score(asked, o.truth, 1, listLength)
	return err
}

// draw writes the picture.
func (f *demoFlags) draw(ctx context.Context, o *outcome) error {
	if f.out == noPicture {
		return nil
	}
	components, err := points.PCA(o.unit.RawMatrix(), 2)
	if err != nil {
		return err
	}
	plane, err := points.Project(components, o.unit.RawMatrix())
	if err != nil {
		return err
	}
	steps := "1 step"
	if f.steps > 1 {
		steps = fmt.Sprintf("%d steps", f.steps)
	}
	return formats.WriteFile(ctx, f.out, func(w io.Writer) error {
		return evaluate.Scatter(w, filepath.Ext(f.out), plane, o.truth, &evaluate.ScatterOptions{
			Title:  fmt.Sprintf("Handwritten digits after %s, beta %g", steps, f.beta),
			XLabel: "first principal component", YLabel: "second principal component",
			Hollow: o.heldOut, HollowName: "label hidden", FilledName: "label used",
		})
	})
}

// figuresReport holds the figures of one space.
type figuresReport struct {
	RecallAt1    float64 `json:"recall_at_1"`
	RecallAt8    float64 `json:"recall_at_8"`
	PrecisionAt8 float64 `json:"precision_at_8"`
}

func reportFigures(s *evaluate.Scores) figuresReport {
	return figuresReport{s.At[0].Recall, s.At[1].Recall, s.At[1].Precision}
}

// demoReport is the object of demo -json.
type demoReport struct {
	N         int           `json:"n"`
	D         int           `json:"d"`
	Gallery   int           `json:"gallery"`
	HeldOut   int           `json:"held_out"`
	Seed      uint64        `json:"seed"`
	Beta      float64       `json:"beta"`
	Steps     int           `json:"steps"`
	Raw       figuresReport `json:"raw"`
	Embedding figuresReport `json:"embedding"`
	graphReport
	Seconds float64 `json:"seconds"`
	Out     *string `json:"out"` // null without a picture
}

func (f *demoFlags) show(e *env, o *outcome, took time.Duration) error {
	raw, embedded := reportFigures(o.before), reportFigures(o.after)
	if e.json {
		r := demoReport{
			N: o.raw.Rows, D: o.raw.Cols, Gallery: len(o.gallery), HeldOut: len(o.heldOut), Seed: f.seed, Beta: f.beta, Steps: f.steps,
			Raw: raw, Embedding: embedded, graphReport: reportGraph(&o.embedding.Graph), Seconds: took.Seconds(),
		}
		if f.out != noPicture {
			r.Out = &f.out
		}
		return e.object(r)
	}
	fmt.Fprintf(e.stdout, "%d handwritten digits, %d with labels; %d held-out rows search the labelled ones\n\n", o.raw.Rows, len(o.gallery), len(o.heldOut))
	t := tabwriter.NewWriter(e.stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "\tR@1\tR@8\tP@8")
	for _, line := range []struct {
		name string
		figuresReport
	}{{"normalised images", raw}, {fmt.Sprintf("embedding, beta %g, steps %d", f.beta, f.steps), embedded}} {
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\n", line.name, line.RecallAt1, line.RecallAt8, line.PrecisionAt8)
	}
	t.Flush()
	fmt.Fprintln(e.stdout)
	writeGraph(e.stdout, o.raw.Rows, &o.embedding.Graph)
	t = facts(e.stdout)
	fmt.Fprintf(t, "time\t%.2f s for the graph, %.2f s for the steps, %.2f s in all\n", o.embedding.Graph.BuildTime.Seconds(), o.embedding.Graph.StepTime.Seconds(), took.Seconds())
	if f.out != noPicture {
		fmt.Fprintf(t, "wrote\t%s\n", f.out)
	}
	return t.Flush()
}
