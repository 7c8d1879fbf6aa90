package ranks

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

// A Model is what verb model is asked for: which rows and ranks, and the rates of a rank.
type Model struct {
	Rows, Ranks      string // numbers with commas
	D, K, Cores      int
	Degree           float64
	Read, Madd, Link float64 // thousand millions a second: bytes, multiply-adds of a worker, bytes
	Latency          float64 // microseconds
}

// A Foreseen is what the model says of a number of rows and ranks, the object of model -json.
// Bytes are those of one rank.
type Foreseen struct {
	N             float64 `json:"n"`
	D             int     `json:"d"`
	K             int     `json:"k"`
	Ranks         int     `json:"ranks"`
	MemoryBytes   float64 `json:"memory_bytes"`
	GhostRows     float64 `json:"ghost_rows"`
	HaloBytes     float64 `json:"halo_bytes"`
	GatherBytes   float64 `json:"allgatherv_bytes"`
	SumBytes      float64 `json:"sum_bytes"`
	Messages      float64 `json:"messages"`
	StepBytes     float64 `json:"step_bytes"`
	StepMadds     float64 `json:"step_madds"`
	StepSeconds   float64 `json:"step_seconds"`
	StepSpeedup   float64 `json:"step_speedup"`
	SearchSeconds float64 `json:"search_seconds"`
	SearchSpeedup float64 `json:"search_speedup"`
}

// Run prints what the model says. No names are wanted.
func (f *Model) Run(_ context.Context, e *cli.Env, names []string) error {
	if len(names) > 0 {
		return cli.Usagef("names are not wanted, got %q", names[0])
	}
	all, err := f.foresee()
	if err != nil {
		return err
	}
	if !e.JSON {
		return writeForeseen(e.Stdout, all)
	}
	for _, v := range all {
		if err := e.Object(v); err != nil {
			return err
		}
	}
	return nil
}

// foresee returns a line for each number of rows and ranks.
func (f *Model) foresee() (out []*Foreseen, err error) {
	if f.D > 3 {
		return nil, cli.Usagef("-d %d: the model is of points in 1 to 3 dimensions", f.D)
	}
	for _, v := range []struct {
		flag  string
		value float64
	}{{"mean-neighbours", f.Degree}, {"read", f.Read}, {"madd", f.Madd}, {"link", f.Link}, {"latency", f.Latency}} {
		if !(v.value > 0) || math.IsInf(v.value, 1) {
			return nil, cli.Usagef("-%s %g: want a number above 0", v.flag, v.value)
		}
	}
	ranks, err := rankNumbers(f.Ranks)
	if err != nil {
		return nil, err
	}
	for _, word := range strings.Split(f.Rows, ",") {
		n, err := strconv.ParseFloat(word, 64)
		if err != nil || !(n > f.Degree) || n > math.MaxUint32 {
			return nil, cli.Usagef("-n %q: want numbers of rows with commas, more than neighbours and less than 2^32", f.Rows)
		}
		for _, r := range ranks {
			out = append(out, f.line(n, r))
		}
	}
	return out, nil
}

// line is what the model says of a number of rows and ranks.
func (f *Model) line(n float64, ranks int) *Foreseen {
	of := func(ranks int) *scaleModel {
		return &scaleModel{n: n, d: f.D, k: f.K, degree: f.Degree, ranks: ranks,
			rankRates: rankRates{cores: f.Cores, read: f.Read * 1e9, madd: f.Madd * 1e9, link: f.Link * 1e9, latency: f.Latency * 1e-6}}
	}
	m, one := of(ranks), of(1)
	return &Foreseen{
		N: n, D: f.D, K: f.K, Ranks: ranks, MemoryBytes: m.memory(), GhostRows: m.ghosts(), HaloBytes: m.haloBytes(), GatherBytes: m.gatherBytes(),
		SumBytes: m.sumBytes(), Messages: m.messages(), StepBytes: m.stepBytes(), StepMadds: m.stepMadds(),
		StepSeconds: m.stepSeconds(), StepSpeedup: one.stepSeconds() / m.stepSeconds(),
		SearchSeconds: m.searchSeconds(), SearchSpeedup: one.searchSeconds() / m.searchSeconds(),
	}
}

func writeForeseen(w io.Writer, all []*Foreseen) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "n\tranks\tmemory\tstreamed\tmadds\tghosts\thalo\tAllgatherv\tsums\tmessages\tstep\tspeedup\tsearch\tspeedup\t")
	for _, v := range all {
		fmt.Fprintf(t, "%s\t%d\t%s\t%s\t%.2g\t%.2g\t%s\t%s\t%s\t%.0f\t%s\t%.3g\t%s\t%.3g\t\n", shortNumber(v.N), v.Ranks, figures.Decimal(v.MemoryBytes), figures.Decimal(v.StepBytes),
			v.StepMadds, v.GhostRows, figures.Decimal(v.HaloBytes), figures.Decimal(v.GatherBytes), figures.Decimal(v.SumBytes), v.Messages,
			figures.Duration(v.StepSeconds), v.StepSpeedup, figures.Duration(v.SearchSeconds), v.SearchSpeedup)
	}
	return t.Flush()
}

// shortNumber writes powers of ten as people do.
func shortNumber(n float64) string {
	return strings.Replace(strconv.FormatFloat(n, 'g', -1, 64), "e+0", "e", 1)
}

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

// Bytes of a rank. While the graph is built a row takes, besides its coordinates: keys, order,
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

// halos reports whether steps exchange halos: where they are less than half of the iterate.
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
