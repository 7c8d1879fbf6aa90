package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// WriteGraph prints what a person should know about the graph of some rows, and with -v
// how it was made. asked is the flag that asked for a cut graph, empty where none did.
func WriteGraph(e *cli.Env, rows int, g *iterate.Graph, asked string) {
	t := Facts(e.Stdout)
	fmt.Fprintf(t, "graph\t%s\n", NeighboursOf(rows, g))
	if e.Verbose {
		reach := "every pair has a weight"
		if !math.IsInf(g.Radius, 0) {
			reach = fmt.Sprintf("cut at distance %.4g", g.Radius)
		}
		if g.Neighbours > 0 {
			fmt.Fprintf(t, "operator\t%s, %d nearest rows of each row, a bandwidth for each row\n", g.Operator, g.Neighbours)
		} else {
			fmt.Fprintf(t, "operator\t%s, sigma %.4g, %s\n", g.Operator, g.Bandwidth.Sigma(), reach)
		}
		fmt.Fprintf(t, "weights\tadd up to %.4g a row on average\n", g.MeanDegree)
		fmt.Fprintf(t, "certificate\t%s\n", certificateWords(&g.Certificate, asked))
		fmt.Fprintf(t, "memory\t%s", text.FormatSize(g.Cost.ResidentBytes))
		if g.Cost.NNZ > 0 {
			fmt.Fprintf(t, " for %d weights", g.Cost.NNZ)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

// NeighboursOf says how many neighbours rows have.
func NeighboursOf(rows int, g *iterate.Graph) string {
	n := g.Certificate.Isolated
	switch cut := g.Certificate.Kind == kernel.DroppedMass || g.Certificate.Kind == kernel.AsAsked; {
	case cut && n > 0:
		return fmt.Sprintf("%.4g neighbours a row on average; rows without any: %d of %d", g.MeanNeighbours, n, rows)
	case cut:
		return fmt.Sprintf("%.4g neighbours a row on average; every one of the %d rows has some", g.MeanNeighbours, rows)
	case n > 0:
		return fmt.Sprintf("every pair of the %d rows has a weight; those of %d rows are all too small to count", rows, n)
	}
	return fmt.Sprintf("every pair of the %d rows has a weight", rows)
}

// certificateWords says what is certified of a graph. Where a flag asked for a cut graph
// the bound is no error: it says how much the full kernel would have had beyond it.
func certificateWords(c *kernel.Certificate, asked string) string {
	words := strings.TrimPrefix(c.String(), "as asked for; ")
	words = strings.ToUpper(words[:1]) + words[1:]
	switch {
	case c.Kind == kernel.AsAsked:
		return "The graph of the nearest rows is what was asked for. " + words
	case asked != "" && c.Kind == kernel.DroppedMass:
		return "The cut graph is what " + asked + " asked for. " + words
	}
	return words
}
