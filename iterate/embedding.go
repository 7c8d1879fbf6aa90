package iterate

import (
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// An Embedding is what the steps of a Run have made of some rows, with a description of
// the graph they went over. Engine.Embed, Engine.Continue and post.Continue return one.
type Embedding struct {
	// Points has the embedding: a row for each row that went in, in the same order. It is nil
	// where the caller had the embedding written to a buffer, Into of the settings.
	Points *mat.Dense
	// Graph describes the graph of these rows.
	Graph Graph
	// Status says how the run ended.
	Status Status
	// Trace has a record for each step that was taken.
	Trace []Record
}

// A Graph describes the graph of an embedding. Its neighbours are counted, and its
// degrees are sums of weights.
type Graph struct {
	// Operator is the name of the operator, one of kernel.OperatorNames.
	Operator string
	// Bandwidth is that of the Gaussian weights. Where Neighbours is set, it is in units of
	// the scales of the rows.
	Bandwidth kernel.Bandwidth
	// Neighbours is how many nearest neighbours of each row were asked for in a graph that
	// tunes itself; 0 for a graph of one bandwidth.
	Neighbours int
	// Radius is the cutoff, +Inf when every pair has a weight. Only weights that
	// kernel.Repair has added belong to pairs farther apart.
	Radius float64
	// MeanNeighbours is the mean number of neighbours of a row.
	MeanNeighbours float64
	// MeanDegree is the mean degree. The degree of a row is the sum of its weights.
	MeanDegree float64
	// Certificate says how far the weights are from those of the full Gaussian kernel.
	// Its rows are in the order of the points.
	Certificate kernel.Certificate
	// Cost is what the operator takes in time and memory.
	Cost kernel.Cost
	// BuildTime is how long the graph took, StepTime all steps together.
	BuildTime, StepTime time.Duration
}
