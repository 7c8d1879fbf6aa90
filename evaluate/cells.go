package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/seed-64e14a55/privatemail/internal/par"
	"github.com/seed-64e14a55/privatemail/internal/points"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/retrieval"
	"github.com/seed-64e14a55/privatemail/retrieval/client"
	"github.com/seed-64e14a55/privatemail/retrieval/server"
	"github.com/seed-64e14a55/privatemail/retrieval/wire"
)

// A CellsTask is a search in mode cells that is to be measured. Gallery and
// queries have a row each in the space whose cells are released and one in the
// space that is searched; the two spaces may be one.
type CellsTask struct {
	Space, Ranking           blas64.General // of the gallery
	QuerySpace, QueryRanking blas64.General // of the queries
	GalleryLabels            []int32        // for the figures and the attacker only
	QueryLabels              []int32        // for the figures only
}

// NewCellsTask returns the task of a split, built and searched in one space.
func NewCellsTask(f *mat.Dense, labels []int32, split *Split) *CellsTask {
	gallery, queries := pickRows(f, split.Gallery), pickRows(f, split.Queries)
	return &CellsTask{
		Space: gallery, Ranking: gallery, QuerySpace: queries, QueryRanking: queries,
		GalleryLabels: Pick(labels, split.Gallery), QueryLabels: Pick(labels, split.Queries),
	}
}

func pickRows(x *mat.Dense, rows []int) blas64.General {
	_, d := x.Dims()
	out := blas64.General{Rows: len(rows), Cols: d, Stride: d, Data: make([]float64, 0, len(rows)*d)}
	for _, row := range rows {
		out.Data = append(out.Data, x.RawRowView(row)...)
	}
	return out
}

func (t *CellsTask) check() error {
	for _, part := range []struct {
		name    string
		x, with blas64.General
		labels  []int32
	}{
		{"gallery", t.Space, t.Ranking, t.GalleryLabels},
		{"queries", t.QuerySpace, t.QueryRanking, t.QueryLabels},
	} {
		n, d, err := points.Dims(part.x)
		if err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		m, e, err := points.Dims(part.with)
		if err != nil {
			return fmt.Errorf("%s: ranking: %w", part.name, err)
		}
		if n == 0 || n != m || n != len(part.labels) || d != t.Space.Cols || e != t.Ranking.Cols {
			return fmt.Errorf("%s: %w: %d x %d and %d x %d with %d labels", part.name, ErrShape, n, d, m, e, len(part.labels))
		}
		if err := points.CheckFinite(part.x); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
		if err := points.CheckFinite(part.with); err != nil {
			return fmt.Errorf("%s: ranking: %w", part.name, err)
		}
	}
	return nil
}

// Retrieved is what the first K answers to all queries are worth, on average.
type Retrieved struct {
	// Overlap is the share of the K rows that a search of the whole gallery
	// would have found.
	Overlap float64
	// First is Recall@1; Recall and Precision are for all K answers.
	First, Recall, Precision float64
	// Download is the share of the gallery that the client ranks.
	Download float64
}

func (r *Retrieved) add(o Retrieved, weight float64) {
	r.Overlap += weight * o.Overlap
	r.First += weight * o.First
	r.Recall += weight * o.Recall
	r.Precision += weight * o.Precision
	r.Download += weight * o.Download
}

// CellsFigures are what mode cells gives at an epsilon, and what it discloses.
type CellsFigures struct {
	Epsilon   float64
	Cells     int
	Inclusion float64 // probability that the query's own cell is reported
	Retrieved
	// Guess is how often a server that knows the labels of its gallery guesses
	// the class of a query from the cell it reports, and GuessBound the most
	// that epsilon allows.
	Guess, GuessBound float64
	// Ceiling is the most that K answers without re-ranking could have for
	// Recall. Lists are re-ranked by the client, so Recall here may exceed it.
	Ceiling float64
}

// A CellsTable holds the outcome of each query for each cell it may report, from
// which the figures at every epsilon follow exactly: the query's own cell has
// the probability p and the others share the rest,
//
//	p o_own + (1-p) (mean of o over the other cells).
//
// It is safe for concurrent use.
type CellsTable struct {
	task    *CellsTask
	k       int
	cells   int
	own     []int       // the cell of each query
	homes   []int       // the cell of each gallery row
	outcome []Retrieved // of query q with cell c at q*cells + c
	random  Retrieved
}

// CellsTableSettings choose what is tabulated. Zero values mean the defaults.
type CellsTableSettings struct {
	server.CellsSettings
	// K is the number of answers; 0 means 8.
	K int
	// WithBase ranks the base sample together with the lists.
	WithBase bool
}

// NewCellsTable builds the server and tabulates what each of its lists is worth
// to each query. There is also a row for no query at all: a random sample of the
// gallery as large as the mean download, drawn anew for each query.
//
// Requests name one cell. Errors are ErrShape, ErrNonFinite, retrieval.ErrCells,
// and that of the context.
func NewCellsTable(ctx context.Context, task *CellsTask, settings CellsTableSettings) (*CellsTable, error) {
	t, err := newCellsTable(ctx, task, settings)
	if err != nil {
		return nil, fmt.Errorf("evaluate: cells: %w", err)
	}
	return t, nil
}

func newCellsTable(ctx context.Context, task *CellsTask, settings CellsTableSettings) (*CellsTable, error) {
	if err := task.check(); err != nil {
		return nil, err
	}
	if settings.K == 0 {
		settings.K = 8
	}
	if settings.K < 1 || settings.K > task.Space.Rows || settings.Size > 1 {
		return nil, fmt.Errorf("%w: %d answers of %d rows, %d cells in a request", ErrShape, settings.K, task.Space.Rows, settings.Size)
	}
	cells, err := server.NewCells(ctx, task.Space, task.Ranking, settings.CellsSettings)
	if err != nil {
		return nil, err
	}
	book := cells.Codebook()
	t := &CellsTable{task: task, k: settings.K, cells: book.Cells()}
	t.own, t.homes = nearestCentres(book, task.QuerySpace), nearestCentres(book, task.Space)
	t.outcome = make([]Retrieved, len(t.own)*t.cells)
	in, err := openLists(cells, settings.WithBase)
	if err != nil {
		return nil, err
	}
	randoms := make([]Retrieved, len(t.own))
	err = settings.Workers.Do(ctx, len(t.own), par.Func(func(_, q int) {
		order := in.order(task.QueryRanking.Data[q*task.QueryRanking.Stride:][:task.QueryRanking.Cols])
		t.tabulate(q, order, in)
		sample := points.Permutation(in.rows, settings.Seed<<32+uint64(q))[:in.meanSize]
		randoms[q] = t.score(q, order, firstAmong(order, sample, in.rows, t.k), float64(in.meanSize)/float64(in.rows))
	}))
	if err != nil {
		return nil, err
	}
	for _, r := range randoms {
		t.random.add(r, 1/float64(len(randoms)))
	}
	return t, nil
}

func nearestCentres(book *wire.Codebook, x blas64.General) []int {
	out := make([]int, x.Rows)
	for i := range out {
		out[i] = retrieval.NearestCentre(book, x.Data[i*x.Stride:][:x.Cols])
	}
	return out
}

// openedLists are the lists of all cells, as a client would get them.
type openedLists struct {
	rows, d  int
	data     []float32 // of the ranking space; zero where a row is in no list
	cellsOf  [][]int   // the cells whose lists hold a row
	inBase   []bool
	size     []int // rows a client ranks for each cell
	meanSize int
}

// openLists asks for every list.
func openLists(cells *server.Cells, withBase bool) (*openedLists, error) {
	book := cells.Codebook()
	hash, err := book.Hash()
	if err != nil {
		return nil, err
	}
	in := &openedLists{
		rows: book.Rows, d: book.Ranking,
		data:    make([]float32, book.Rows*book.Ranking),
		cellsOf: make([][]int, book.Rows), inBase: make([]bool, book.Rows), size: make([]int, book.Cells()),
	}
	baseSize := 0
	if withBase {
		base := cells.Base()
		baseSize = len(base.IDs)
		for _, id := range base.IDs {
			in.inBase[id] = true
		}
	}
	total := 0
	for c := range in.size {
		answer, err := cells.Answer(&wire.CellsRequest{Codebook: hash, Cells: []uint32{uint32(c)}})
		if err != nil {
			return nil, err
		}
		in.size[c] = baseSize
		for i, id := range answer.List(0) {
			in.cellsOf[id] = append(in.cellsOf[id], c)
			copy(in.data[int(id)*in.d:(int(id)+1)*in.d], answer.Rows[i*in.d:])
			if !in.inBase[id] {
				in.size[c]++
			}
		}
		total += in.size[c]
	}
	in.meanSize = int(math.Round(float64(total) / float64(len(in.size))))
	return in, nil
}

// order returns all rows of the gallery by their distance from a query.
func (in *openedLists) order(query []float64) []int {
	distance := make([]float64, in.rows)
	order := make([]int, in.rows)
	for i := range order {
		order[i] = i
		distance[i] = retrieval.SquaredDistance(query, in.data[i*in.d:(i+1)*in.d])
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(distance[a], distance[b]), cmp.Compare(a, b))
	})
	return order
}

// tabulate sets the outcomes of a query, whose answers for all cells are found in
// one pass over the rows.
func (t *CellsTable) tabulate(q int, order []int, in *openedLists) {
	answers := make([][]int, t.cells)
	missing := t.cells
	give := func(c, row int) {
		if len(answers[c]) < t.k {
			if answers[c] = append(answers[c], row); len(answers[c]) == t.k {
				missing--
			}
		}
	}
	for _, row := range order {
		if missing == 0 {
			break
		}
		if in.inBase[row] {
			for c := range t.cells {
				give(c, row)
			}
			continue
		}
		for _, c := range in.cellsOf[row] {
			give(c, row)
		}
	}
	for c, found := range answers {
		t.outcome[q*t.cells+c] = t.score(q, order, found, float64(in.size[c])/float64(in.rows))
	}
}

// firstAmong returns the first k rows of an order that are in a sample.
func firstAmong(order, sample []int, n, k int) (found []int) {
	in := make([]bool, n)
	for _, row := range sample {
		in[row] = true
	}
	for _, row := range order {
		if in[row] && len(found) < k {
			found = append(found, row)
		}
	}
	return found
}

// score compares what was found with the order of the whole gallery.
func (t *CellsTable) score(q int, order, found []int, download float64) Retrieved {
	out := Retrieved{Download: download}
	exact := order[:t.k]
	for i, row := range found {
		if slices.Contains(exact, row) {
			out.Overlap += 1 / float64(t.k)
		}
		if label := t.task.GalleryLabels[row]; label >= 0 && label == t.task.QueryLabels[q] {
			out.Recall = 1
			out.Precision += 1 / float64(t.k)
			if i == 0 {
				out.First = 1
			}
		}
	}
	return out
}

// NoQuery returns what a random sample of the mean size of a download gives.
func (t *CellsTable) NoQuery() Retrieved { return t.random }

// At returns the figures at an epsilon: expected values over what is released,
// means over the queries. The error is mechanism.ErrParam.
func (t *CellsTable) At(epsilon float64) (*CellsFigures, error) {
	p, err := mechanism.Subset{Items: t.cells, Size: 1, Epsilon: epsilon}.Inclusion()
	if err != nil {
		return nil, fmt.Errorf("evaluate: cells: %w", err)
	}
	out := &CellsFigures{Epsilon: epsilon, Cells: t.cells, Inclusion: p}
	other := (1 - p) / float64(t.cells-1)
	queries := float64(len(t.own))
	for q, own := range t.own {
		for c, o := range t.outcome[q*t.cells : (q+1)*t.cells] {
			weight := other
			if c == own {
				weight = p
			}
			out.add(o, weight/queries)
		}
	}
	out.Guess = t.guess(p, other)
	classes := distinct(t.task.QueryLabels)
	bound := retrieval.Ceiling{Answers: 1, Classes: classes, Mass: retrieval.CommonestMass(t.task.QueryLabels, 1)}
	if out.GuessBound, err = bound.Recall(epsilon); err != nil {
		return nil, fmt.Errorf("evaluate: cells: %w", err)
	}
	k := min(t.k, classes)
	ceiling := retrieval.Ceiling{Answers: k, Classes: classes, Mass: retrieval.CommonestMass(t.task.QueryLabels, k)}
	if out.Ceiling, err = ceiling.Recall(epsilon); err != nil {
		return nil, fmt.Errorf("evaluate: cells: %w", err)
	}
	return out, nil
}

// guess returns how often the best guess of the class is right: for each cell
// that may be reported, the class whose gallery rows would report it most often.
func (t *CellsTable) guess(own, other float64) (share float64) {
	likelihood := make([]map[int32]float64, t.cells)
	sizes := make(map[int32]float64)
	for c := range likelihood {
		likelihood[c] = make(map[int32]float64)
	}
	for i, label := range t.task.GalleryLabels {
		likelihood[t.homes[i]][label] += own - other
		sizes[label] += other
	}
	best := make([]int32, t.cells)
	for c := range best {
		most := math.Inf(-1)
		for label, rest := range sizes {
			if v := likelihood[c][label] + rest; v > most || v == most && label < best[c] {
				best[c], most = label, v
			}
		}
	}
	for q, label := range t.task.QueryLabels {
		for c, guess := range best {
			switch {
			case guess != label:
			case c == t.own[q]:
				share += own
			default:
				share += other
			}
		}
	}
	return share / float64(len(t.task.QueryLabels))
}

func distinct(labels []int32) int {
	seen := make(map[int32]bool)
	for _, l := range labels {
		seen[l] = true
	}
	return len(seen)
}

// Sampled is a mean over queries that were really asked, with the uncertainty
// that comes from what was released.
type Sampled struct {
	Overlap       float64
	StandardError float64 // of Overlap, given the queries
	Queries       int     // how many were asked, repetitions included
}

// Ask puts every query through the whole protocol, rounds times, as so many
// records with nothing in common: client, wire and server, at an epsilon that is
// counted nowhere. It is there to check At; its figure depends on what is drawn.
//
// Errors are those of NewCellsTable and of the client.
func (t *CellsTask) Ask(ctx context.Context, settings CellsTableSettings, epsilon float64, rounds int) (*Sampled, error) {
	s, err := t.ask(ctx, settings, epsilon, rounds)
	if err != nil {
		return nil, fmt.Errorf("evaluate: cells: %w", err)
	}
	return s, nil
}

func (t *CellsTask) ask(ctx context.Context, settings CellsTableSettings, epsilon float64, rounds int) (*Sampled, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if settings.K == 0 {
		settings.K = 8
	}
	if rounds < 1 {
		return nil, fmt.Errorf("%w: %d rounds", ErrShape, rounds)
	}
	cells, err := server.NewCells(ctx, t.Space, t.Ranking, settings.CellsSettings)
	if err != nil {
		return nil, err
	}
	hash, err := cells.Codebook().Hash()
	if err != nil {
		return nil, err
	}
	asker, err := client.NewCells(cells.Codebook(), client.CellsSettings{
		Codebook: hash, Epsilon: epsilon, Ledger: mechanism.NoLedger, Memory: client.NewMemory(),
	})
	if err != nil {
		return nil, err
	}
	exact, err := Nearest(ctx, t.QueryRanking, t.Ranking, settings.K, nil)
	if err != nil {
		return nil, err
	}
	var base *wire.Base
	if settings.WithBase {
		base = cells.Base()
	}
	out := &Sampled{Queries: rounds * t.QuerySpace.Rows}
	variance := 0.0
	for q := range t.QuerySpace.Rows {
		var sum, squares float64
		for round := range rounds {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			request, err := asker.Ask(fmt.Sprintf("query %d, round %d", q, round), t.QuerySpace.Data[q*t.QuerySpace.Stride:][:t.QuerySpace.Cols])
			if err != nil {
				return nil, err
			}
			answer, err := cells.Answer(request)
			if err != nil {
				return nil, err
			}
			matches, err := asker.Rank(t.QueryRanking.Data[q*t.QueryRanking.Stride:][:t.QueryRanking.Cols], settings.K, request, answer, base)
			if err != nil {
				return nil, err
			}
			overlap := 0.0
			for _, m := range matches {
				if slices.Contains(exact.Row(q), int(m.ID)) {
					overlap += 1 / float64(settings.K)
				}
			}
			sum += overlap
			squares += overlap * overlap
		}
		n := float64(rounds)
		out.Overlap += sum / n
		if rounds > 1 {
			variance += max(0, squares-sum*sum/n) / (n - 1) / n
		}
	}
	queries := float64(t.QuerySpace.Rows)
	out.Overlap /= queries
	out.StandardError = math.Sqrt(variance) / queries
	return out, nil
}
