package rows

// Neighbours are the K nearest neighbours of every point. Points are known by their places
// in the order of a search.
type Neighbours struct {
	K        int
	Order    []uint32               // given row at each place; nil when the given row is the place
	Place    []uint32               // places of the K neighbours of each place, nearest first
	Dist2    []float64              // squared distances of the same neighbours
	Distance func(i, j int) float64 // squared distance of the points at two places
	Stats    Stats
}
