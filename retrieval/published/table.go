package published

import (
	"context"
	"fmt"
)

// A Row is one line of Table.
type Row struct {
	Name string
	Outcome
	// Notice is the package's, empty where no label entered.
	Notice string
}

// Epsilons are those Table shows the noise of the text at.
var Epsilons = []float64{0.01, 0.1, 1, 10}

// Table takes the published method apart: what it retrieves as it is, with less
// noise and more, and without label, kernel or feature. Shares are Recall@K but
// for the last row, which has the share of queries that get the class of the
// wrong label they came with. progress, if not nil, is told the name of each
// row before it is computed.
//
// The work is the server's side, three embeddings of gallery and public rows
// over the full kernel, and for each row and query T products of P^2 weights.
func (c *Comparison) Table(ctx context.Context, progress func(row string)) ([]Row, error) {
	type line struct {
		name string
		Variant
	}
	lines := []line{
		{"non-private, authors' L_Y", Variant{Source: Program}},
		{"non-private, paper's L_Y", Variant{Source: Text}},
		{"authors' program at its eps 0.01", Variant{Source: Program, Noise: ProgramNoise, Epsilon: 0.01}},
	}
	for _, e := range Epsilons {
		lines = append(lines, line{fmt.Sprintf("noise as in the text, authors' L_Y, eps %g", e), Variant{Source: Program, Noise: TextNoise, Epsilon: e}})
	}
	lines = append(lines,
		line{"query's label dropped, no noise, authors' L_Y", Variant{Source: Program, Label: Nothing}},
		line{"constant kernel: no feature information at all", Variant{Source: Program, ConstantKernel: true}},
		line{"random query feature, right label", Variant{Source: Program, Feature: Other}},
		line{"right feature, wrong label: share that gets the wrong label's class", Variant{Source: Program, Label: Other}},
	)
	tell := func(name string) {
		if progress != nil {
			progress(name)
		}
	}
	const raw = "raw features"
	tell(raw)
	out, err := c.Raw(ctx)
	if err != nil {
		return nil, err
	}
	rows := []Row{{Name: raw, Outcome: out}}
	for _, l := range lines {
		tell(l.name)
		out, err := c.Run(ctx, l.Variant)
		if err != nil {
			return nil, fmt.Errorf("published: %s: %w", l.name, err)
		}
		rows = append(rows, Row{Name: l.name, Outcome: out, Notice: Notice})
	}
	return rows, nil
}
