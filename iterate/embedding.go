package iterate

import (
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// An Embedding is the result of a Run, with a description of its graph. Engine.Embed,
// Engine.Continue and post.Continue return one.
type Embedding struct {
	// Points has the embedding: a row for each input row, in the same order. It is nil where
	// Into of the settings named a buffer for the embedding.
	Points *mat.Dense
	// Graph describes the graph of these rows.
	Graph Graph
	// Status says how the run ended.
	Status Status
	// Trace has a record for each step that was taken.
	Trace []Record
}

// A Graph describes the graph of an embedding. Neighbours are a count, and degrees
// are sums of weights.
type Graph struct {
	// Operator is the name of the operator, one of kernel.OperatorNames.
	Operator string
	// Bandwidth is the bandwidth of the Gaussian weights. Where Neighbours is set, it is in
	// units of the scales of the rows.
	Bandwidth kernel.Bandwidth
	// Neighbours is the requested number of nearest neighbours of each row in a self-tuned
	// graph; 0 for a graph of one bandwidth.
	Neighbours int
	// Radius is the cutoff, +Inf when every pair has a weight. Only weights
	// added by kernel.Repair belong to pairs at a larger distance.
	Radius float64
	// MeanNeighbours is the mean number of neighbours of a row.
	MeanNeighbours float64
	// MeanDegree is the mean degree. The degree of a row is the sum of its weights.
	MeanDegree float64
	// Certificate says how far the weights are from those of the full Gaussian kernel.
	// Its rows are in the order of the points.
	Certificate kernel.Certificate
	// Cost is the time and memory of the operator.
	Cost kernel.Cost
	// BuildTime is the time of building the graph, StepTime of all steps
	// together.
	BuildTime, StepTime time.Duration
}
