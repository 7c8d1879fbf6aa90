package grid

import (
	"context"
	"fmt"
	"math"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/kernel/internal/base"
	"github.com/seed-64e14a55/privatemail/kernel/internal/lattice"
	"github.com/seed-64e14a55/privatemail/kernel/internal/profile"
	"github.com/seed-64e14a55/privatemail/kernel/internal/rows"
	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
	"github.com/seed-64e14a55/privatemail/par"
)

// A gridChoice is a set of cells and nodes.
type gridChoice struct {
	lattice  lattice.Lattice
	nodes    int     // p
	all      bool    // all cells are kept
	occupied float64 // cells that are kept
	eta      float64 // expected of 99 in 100 rows
	repaired float64 // rows that are expected to need direct weights
	raised   int
}

// crowd is what a choice needs to know of the points: a lattice of some of them says
// how many others a row sees, and how many are close enough to disturb it.
type crowd struct {
	degree float64 // that 99 in 100 rows exceed
	ratio  float64 // 99 in 100 rows have sum_j exp(-x^2/4) below that many times their degree
	ratios []float32
}

// missed returns the share of rows whose ratio is above the given one.
func (c *crowd) missed(ratio float64) float64 {
	count := 0
	for _, r := range c.ratios {
		if float64(r) > ratio {
			count++
		}
	}
	return float64(count) / float64(len(c.ratios))
}

// hopeless is the ratio of rows that no interpolation serves.
const hopeless = 1e6

// widestCell is the largest width of a cell in units of sigma.
const widestCell = 4.0

// planPoints is the largest number of points a choice looks at.
const planPoints = 1 << 17

func lookAtCrowd(ctx context.Context, p *rows.Points, sigma float64, o *base.Options) (*crowd, error) {
	skip := split.Blocks(p.N, planPoints)
	var l lattice.Lattice
	all := false
	for _, width := range []float64{1, 2, widestCell} {
		var ok bool
		l, ok = lattice.New(p, sigma, width)
		if all = ok && l.Cells <= float64(max(p.N/skip, 4096)); all {
			break
		}
	}
	l.SetReach(7)
	cells, err := l.SortPoints(ctx, p, skip, all, o.Workers)
	if err != nil {
		return nil, err
	}
	// The mean of a Gaussian over two cells is about a Gaussian whose variance is larger
	// by a sixth of the squared width.
	smooth := func(variance float64) (sums []float64, self float64, err error) {
		value := func(a, k int) float64 {
			wide, x := variance+l.Width[a]*l.Width[a]/6, float64(k)*l.Width[a]
			return math.Sqrt(variance/wide) * math.Exp(-x*x/(2*wide))
		}
		self = 1
		for a := range l.D {
			self *= value(a, 0)
		}
		pass := lattice.NewPass(lattice.NewTransfer(&l, cells, 1, func(a, k, _, _ int) float64 { return value(a, k) }), 1, o.Workers.Count(), o.Kernels)
		copy(pass.In, cells.Counts())
		err = pass.Do(ctx, o.Workers)
		return pass.In, self, err
	}
	degree, self, err := smooth(1)
	if err != nil {
		return nil, err
	}
	near, _, err := smooth(2)
	if err != nil {
		return nil, err
	}
	// Quantiles over points: each cell counts as often as it has them.
	var degrees, ratios []float32
	for cell, count := range cells.Counts() {
		d := (degree[cell] - self) * float64(skip)
		r := near[cell] * float64(skip) / d
		if !(d > 1e-6) { // nobody in sight, as far as a sample can tell
			d, r = 1e-6, hopeless
		}
		for range int(count) {
			degrees, ratios = append(degrees, float32(d)), append(ratios, float32(min(r, hopeless)))
		}
	}
	return &crowd{
		degree: float64(base.Ranked(degrees, (len(degrees)-1)/100)),
		ratio:  float64(base.Ranked(ratios, (len(ratios)-1)*99/100)),
		ratios: ratios,
	}, nil
}

// gridRefusal says why grid cannot serve at all; "" when it can.
func gridRefusal(p *rows.Points, b base.Bandwidth) string {
	if p.D > lattice.MaxAxes {
		return fmt.Sprintf("for 1 to %d dimensions, not %d", lattice.MaxAxes, p.D)
	}
	if _, ok := lattice.New(p, b.Sigma(), widestCell); !ok {
		return "the points are spread over more cells than can be numbered"
	}
	return ""
}

// chooseGrid returns the cells and nodes that take the least time among those that
// should meet the tolerance.
func chooseGrid(ctx context.Context, p *rows.Points, b base.Bandwidth, o *base.Options) (*gridChoice, error) {
	if why := gridRefusal(p, b); why != "" {
		return nil, fmt.Errorf("%w: %s", base.ErrOperator, why)
	}
	sigma := b.Sigma()
	c, err := lookAtCrowd(ctx, p, sigma, o)
	if err != nil {
		return nil, err
	}
	reach := math.Sqrt(2 * math.Log(10*float64(p.N)/(o.Tolerance*c.degree)))
	var best *gridChoice
	seconds := math.Inf(1)
	for _, width := range []float64{0.125, 0.25, 0.5, 1, 2, widestCell} {
		choice := &gridChoice{}
		var ok bool
		if choice.lattice, ok = lattice.New(p, sigma, width); !ok {
			continue
		}
		choice.lattice.SetReach(reach)
		// The rest of the tolerance is for a crowd that is not as the sample has it.
		choice.nodes, choice.eta = nodesFor(&choice.lattice, 0.7*o.Tolerance, c.ratio)
		if o.Isolated == base.Repair {
			choice.repaired = float64(p.N) * c.missed(min(c.ratio, hopeless)*o.Tolerance/choice.eta)
		}
		occupied, err := estimateOccupied(ctx, &choice.lattice, p, o.Workers)
		if err != nil {
			return nil, err
		}
		for _, choice.all = range []bool{true, false} {
			choice.occupied = occupied
			if choice.all {
				choice.occupied = choice.lattice.Cells
			}
			cost := choice.cost(p, o)
			total := cost.BuildSeconds + float64(o.Steps)*cost.StepSeconds
			if cost.PeakBytes > o.MaxMemory {
				total += 1e12 // only where nothing fits
			}
			if choice.eta > o.Tolerance {
				total += 1e9 * choice.eta / o.Tolerance // the best there is where none will do
			}
			if total < seconds {
				copied := *choice
				best, seconds = &copied, total
			}
		}
	}
	if best == nil { // by this tolerance every time is beyond numbers
		return nil, fmt.Errorf("%w: the tolerance is below what any grid comes near", base.ErrOperator)
	}
	if c.ratio >= hopeless && o.Isolated != base.Repair {
		best.eta = math.Inf(1) // too many rows would be taken out of the grid
	}
	return best, nil
}

// nodesFor returns the least number of nodes with which rows of the given ratio meet
// the tolerance, and the eta they get. Where rounding does not let them it is the
// number that gets them closest.
func nodesFor(l *lattice.Lattice, tolerance, ratio float64) (best int, least float64) {
	if ratio >= hopeless {
		ratio = 100 // the others are to be served well
	}
	for a := range l.D {
		// Cells that touch count as if their points were equal.
		ratio *= 1 + 2*l.Width[a]/math.Sqrt(4*math.Pi)
	}
	least = math.Inf(1)
	for p := 1; p <= lattice.MaxNodes && least > tolerance; p++ {
		if eta := (float64(l.D)*l.AxisError(p) + 2*l.SumError(p, 0)) * ratio; eta < least {
			best, least = p, eta
		}
	}
	return best, least
}

// estimateOccupied estimates the number of cells that hold a point by a sample.
func estimateOccupied(ctx context.Context, l *lattice.Lattice, p *rows.Points, workers *par.Workers) (float64, error) {
	skip := split.Blocks(p.N, planPoints/8)
	cells, err := l.SortPoints(ctx, p, skip, false, workers)
	if err != nil {
		return 0, err
	}
	sample, distinct := float64(split.Blocks(p.N, skip)), float64(cells.Count())
	// Points alone in their cells promise more of them, the others none.
	return min(l.Cells, distinct*(1+float64(skip-1)*distinct/sample)), nil
}

// cost estimates what a choice takes.
func (c *gridChoice) cost(p *rows.Points, o *base.Options) base.Cost {
	l, n, k, d := &c.lattice, float64(p.N), float64(o.Columns), float64(p.D)
	nodes := float64(c.nodes)
	tile := math.Pow(nodes, d)
	all := tile * c.occupied
	transfer, seconds := 0.0, gridSweepSeconds // of a column
	if c.all {
		for a := range l.D {
			transfer += all * float64(2*l.Reach[a]+1) * nodes
		}
	} else {
		pairs := 1.0
		for a := range l.D {
			pairs *= float64(2*l.Reach[a] + 1)
		}
		transfer, seconds = c.occupied*min(pairs, c.occupied)*tile*nodes*1.5, gridCellSeconds
	}
	product := func(columns float64) float64 {
		return n*(2*d*nodes*gridBasisSeconds+columns*(2*tile*gridSpreadSeconds+gridRowSeconds)) + columns*transfer*seconds
	}
	cost := base.Cost{
		StepSeconds:  product(k),
		BuildSeconds: n*(gridSortSeconds+d*nodes*nodes*gridSpreadSeconds) + product(1),
		Flops:        k * 2 * (2*n*tile + transfer),
	}
	// At worst a row that is repaired has weights with all others.
	cost.BuildSeconds += c.repaired * (n*gridDirectSeconds + c.occupied*gridBoxSeconds)
	cost.StepSeconds += 2 * c.repaired * n * k * base.AxpySeconds
	resident := n*(4+8*d+8+8+4) + c.occupied*12
	work := 16 * all * k
	cost.ResidentBytes = mem.Saturate(resident)
	// A part of a crowded cell has at least half of lattice.MostPoints points, and nodes of its
	// own; so has every worker.
	slots, workers := k*n/(lattice.MostPoints/2), k*float64(o.Workers.Count())
	if !c.all { // sums over some of the axes
		workers += d * float64(o.Workers.Count())
	}
	peak := resident + n*(8*3+12) + work + 16*all + 8*tile*(slots+workers)
	if !o.Ranks.Alone() {
		peak += work // what ranks send each other, at most
	}
	cost.PeakBytes = mem.Saturate(peak)
	cost.StreamedBytes = mem.Saturate(n*(16*d+16+8*k) + work*d)
	return cost
}

// mostRaises is how often a build may try with more nodes or a longer reach.
const mostRaises = 3

// raise asks for more nodes, or for cells to reach farther, where too many rows miss
// the tolerance and these would help.
func (c *gridChoice) raise(op *Grid, near []float64, o *base.Options) bool {
	if op.Cert.RowP99 <= o.Tolerance || c.raised == mostRaises {
		return false
	}
	c.raised++
	blurred, distant := 0, 0
	for cell, sum := range near {
		for i := op.Cells.Start[cell]; i < op.Cells.Start[cell+1]; i++ {
			degree := op.RowSums[i]
			if op.errs.near*sum > 0.7*o.Tolerance*degree {
				blurred++
			}
			if op.errs.far > 0.3*o.Tolerance*degree {
				distant++
			}
		}
	}
	raised := false
	if 200*distant > len(op.RowSums) && c.lattice.Radius < 38 { // beyond it there is nothing
		c.lattice.SetReach(math.Sqrt(c.lattice.Radius*c.lattice.Radius + 10))
		raised = true
	}
	if 200*blurred > len(op.RowSums) && c.nodes+1 <= lattice.MaxNodes && c.lattice.AxisError(c.nodes+1) < 0.5*c.lattice.AxisError(c.nodes) {
		c.nodes++
		raised = true
	}
	return raised
}

// Candidate estimates grid for a plan.
func Candidate(ctx context.Context, p *rows.Points, b base.Bandwidth, pr *profile.Profile, o *base.Options) step.Candidate {
	c := step.EveryPair(p.N)
	if c.Reason = gridRefusal(p, b); c.Reason != "" {
		return c
	}
	choice, err := chooseGrid(ctx, p, b, o)
	if err != nil {
		c.Reason = err.Error()
		return c
	}
	c.Build = func(ctx context.Context, o *base.Options) (step.Operator, error) {
		return step.OrNil[step.Operator](newGrid(ctx, p, b, choice, o))
	}
	c.Cost, c.Eta, c.Feasible = choice.cost(p, o), choice.eta, true
	if r := choice.lattice.Radius * b.Sigma(); !math.IsInf(r, 1) {
		c.Radius = r
		c.MeanNeighbours, _ = pr.Neighbours(r)
	}
	c.Reason = fmt.Sprintf("%d nodes an axis in %.4g cells, whatever the number of neighbours", choice.nodes, choice.occupied)
	return c
}

// Least is what the operator takes at the least: a degree and a bound of each of n rows,
// what they are made of, and the order and the place of each point.
func Least(n, _ int, _ *base.Options) int64 { return mem.Saturate(36 * float64(n)) }
