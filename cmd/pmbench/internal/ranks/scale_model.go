package ranks

import "math"

// A scaleModel says what a graph of few dimensions takes on ranks: memory, bytes, messages
// and seconds. Points are uniform in a cube. A rank has the rows of a slab of the cube, for
// rows are sorted by the cells of a grid, the widest axis first.
type scaleModel struct {
	n      float64 // rows
	d, k   int     // dimensions of the points, columns of the iterate
	degree float64 // mean number of neighbours
	ranks  int
	rankRates
}

// rankRates are what a rank can do.
type rankRates struct {
	cores   int     // workers of a rank
	read    float64 // bytes a second that a step streams from memory, all workers together
	madd    float64 // multiply-adds a second, of one worker
	link    float64 // bytes a second that a rank receives
	latency float64 // seconds of a message
}

// Costs of a search by cells, of one worker: what every rank does for each row, and what ranks
// share, for each row and for each pair and dimension. They fit builds of a million points with
// 32 neighbours by a calm core of Cascade Lake: 283 ms in two dimensions, 401 ms in three.
const (
	everySeconds = 20e-9 // counts of cells, clusters, fresh memory, the largest bound
	rowSeconds   = 27e-9 // keys, order, tails, bounds
	pairSeconds  = 3.7e-9
)

// Bytes of a rank. While the graph is built a row takes, beside its coordinates: keys, order,
// cells, counts, sums and tails. Afterwards the order, the degree and the certificate of
// every row stay. A weight has its column with it.
const (
	buildingBytes  = 100
	keptBytes      = 16
	weightBytes    = 8
	chunkModelRows = 2048 // rows of a chunk with 32 neighbours
)

// radius is the distance of neighbours, in sides of the cube: a ball of it holds degree points.
func (m *scaleModel) radius() float64 {
	ball := math.Pow(math.Pi, float64(m.d)/2) / math.Gamma(float64(m.d)/2+1)
	return math.Pow(m.degree/(ball*m.n), 1/float64(m.d))
}

// own is the number of rows of a rank.
func (m *scaleModel) own() float64 { return m.n / float64(m.ranks) }

// ghosts is the number of rows of others that a rank needs: those within the radius of the
// faces of its slab, two in the middle and one where there are but two slabs.
func (m *scaleModel) ghosts() float64 {
	faces := float64(min(2, m.ranks-1))
	return min(faces*m.radius()*m.n, m.n-m.own())
}

// haloBytes is what a rank receives of the iterate in a step, gatherBytes what it would
// receive of the whole.
func (m *scaleModel) haloBytes() float64   { return 4 * float64(m.k) * m.ghosts() }
func (m *scaleModel) gatherBytes() float64 { return 4 * float64(m.k) * (m.n - m.own()) }

// halos tells whether steps exchange halos: where they are less than half of the iterate.
func (m *scaleModel) halos() bool { return m.haloBytes() < m.gatherBytes()/2 }

// messages is how many a rank receives in a step: rows from the slabs within the radius, and
// the sums of chunks.
func (m *scaleModel) messages() float64 {
	if m.ranks == 1 {
		return 0
	}
	rounds := math.Ceil(math.Log2(float64(m.ranks)))
	if !m.halos() {
		return 2 * rounds
	}
	slabs := math.Ceil(m.radius() * float64(m.ranks))
	return min(2*slabs, float64(m.ranks-1)) + rounds
}

// sumBytes is what a rank receives of the sums of chunks: four numbers, and two for each
// column.
func (m *scaleModel) sumBytes() float64 {
	return 8 * float64(4+2*m.k) * math.Ceil(m.n/chunkModelRows) * (1 - 1/float64(m.ranks))
}

// stepBytes is what a rank streams from memory in a step, stepMadds the multiply-adds.
func (m *scaleModel) stepBytes() float64 {
	return m.own() * (weightBytes*m.degree + 8*float64(m.k) + 12)
}
func (m *scaleModel) stepMadds() float64 { return m.own() * m.degree * float64(m.k) }

// stepSeconds is the time of a step. Halos travel while rows without ghosts are made.
func (m *scaleModel) stepSeconds() float64 {
	work := max(m.stepBytes()/m.read, m.stepMadds()/(m.madd*float64(m.cores)))
	rest := m.sumBytes()/m.link + m.messages()*m.latency
	if m.halos() {
		return max(work, m.haloBytes()/m.link) + rest
	}
	if m.ranks == 1 {
		return work
	}
	return work + m.gatherBytes()/m.link + rest
}

// foundBytes is what a rank receives while the graph is built: of each row its key, its place
// in the order, its coordinates, its sum and its bound.
func (m *scaleModel) foundBytes() float64 {
	return float64(4+4+4*m.d+8+4) * (m.n - m.own())
}

// searchSeconds is the time of building the graph. What every rank does for each row is mostly
// the work of one worker.
func (m *scaleModel) searchSeconds() float64 {
	shared := m.own() * (rowSeconds + m.degree*float64(m.d)*pairSeconds) / float64(m.cores)
	return m.n*everySeconds + shared + m.foundBytes()/m.link
}

// memory is the most bytes of a rank: while the graph is built, or in steps. The start, which
// becomes the result, and the first and the last iterate are whole on every rank.
func (m *scaleModel) memory() float64 {
	points := 4 * m.n * float64(m.d)
	weights := weightBytes * m.own() * m.degree
	building := m.n * float64(buildingBytes+4*m.d)
	stepping := m.n * float64(keptBytes+3*4*m.k)
	return points + weights + max(building, stepping)
}
