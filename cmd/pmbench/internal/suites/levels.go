package suites

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/figures"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/measure"
	"github.com/seed-64e14a55/privatemail/cmd/pmbench/internal/record"
	"github.com/seed-64e14a55/privatemail/internal/simd"
)

// levelCases measure every loop of package internal/simd at the level and choices in use, and next to
// it at all others that the machine has.
func levelCases(*measure.Lab) (out []measure.Case) {
	for _, loop := range levelLoops() {
		out = append(out, measure.Case{
			Name: "loop=" + loop.name, N: 1, D: 1, Workers: 1,
			Setup: func(ctx context.Context, l *measure.Lab) (*measure.Subject, error) { return levelSubject(ctx, l, loop) },
		})
	}
	return out
}

func levelSubject(ctx context.Context, l *measure.Lab, loop levelLoop) (*measure.Subject, error) {
	data := loop.make(rand.New(rand.NewPCG(1, 2)))
	chosen := simd.At(simd.Best())
	method, _, _ := strings.Cut(loop.name, "/")
	settings := simd.All()
	different, at := differentLoops(chosen, settings, func(a, b *simd.Kernels) bool { return a.SameLoop(b, method) })
	c := newLevelContest(data, different, 0)
	if l.Small {
		c.stretch, c.rounds = 0, 1
	}
	if err := c.run(ctx); err != nil {
		return nil, err
	}
	choice := c.choice()
	for i, s := range settings {
		choice.Seconds[s.String()] = choice.Seconds[different[at[i]].String()]
	}
	return &measure.Subject{
		Run:   func(context.Context) error { data.run(chosen); return nil },
		NNZ:   int64(data.elements),
		Bytes: int64(data.bytes), Roof: measure.RoofRead, Settings: choice,
	}, nil
}

// levelLimit is how many times the time of the best setting the chosen one may take.
const levelLimit = 1.15

// A levelContest times one loop at several settings.
type levelContest struct {
	loop     loopRun
	settings []*simd.Kernels
	chosen   int
	times    int             // how often the loop runs between two looks at the clock
	least    []time.Duration // of each setting, of that many runs
	turns    [][]float64     // the least of each round, by settings
	stretch  time.Duration   // how long each setting runs at a time
	rounds   int             // in which settings take turns
}

// A stretch is longer than a processor takes to change its clock for wide vectors, and
// back. Between two looks at the clock the chosen setting runs for some microseconds.
const (
	levelStretch = 2 * time.Millisecond
	levelRounds  = 5
	levelLook    = 5 * time.Microsecond
)

func newLevelContest(loop loopRun, settings []*simd.Kernels, chosen int) *levelContest {
	c := &levelContest{
		loop: loop, settings: settings, chosen: chosen, times: 1,
		least: make([]time.Duration, len(settings)), turns: make([][]float64, len(settings)),
		stretch: levelStretch, rounds: levelRounds,
	}
	for c.look(settings[chosen]) < levelLook {
		c.times *= 2
	}
	return c
}

// look runs the loop between two looks at the clock.
func (c *levelContest) look(s *simd.Kernels) time.Duration {
	from := time.Now()
	for range c.times {
		c.loop.run(s)
	}
	return time.Since(from)
}

// tries is how often a loop is timed before its choice is called wrong.
const tries = 4

// run times the settings, once where the chosen one is near the best and a few times more,
// each twice as long, where it is not.
func (c *levelContest) run(ctx context.Context) error {
	for try := range tries {
		for range c.rounds << try {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.round()
		}
		if c.choice().Ratio <= levelLimit {
			break
		}
	}
	return nil
}

// round runs the loop at every setting in turn.
func (c *levelContest) round() {
	for i, s := range c.settings {
		least := c.look(s)
		for end := time.Now().Add(c.stretch); time.Now().Before(end); {
			least = min(least, c.look(s))
		}
		least = max(least, 1)
		c.turns[i] = append(c.turns[i], float64(least))
		if c.least[i] == 0 || least < c.least[i] {
			c.least[i] = least
		}
	}
}

// over returns how many times as long the chosen setting takes as another, by the least
// times or by the median of the rounds, whichever is less. The first alone would be wrong
// where one of the two alone met a calm moment, the second where something else ran during
// most turns of one of them.
func (c *levelContest) over(i int) float64 {
	ratios := make([]float64, len(c.turns[i]))
	for round, other := range c.turns[i] {
		ratios[round] = c.turns[c.chosen][round] / other
	}
	return min(float64(c.least[c.chosen])/float64(c.least[i]), figures.Median(ratios))
}

// choice compares the chosen setting with the others.
func (c *levelContest) choice() *record.Choice {
	out := &record.Choice{Pick: c.settings[c.chosen].String(), Seconds: map[string]float64{}, Ratio: 1}
	out.Best = out.Pick
	for i, s := range c.settings {
		out.Seconds[s.String()] = c.least[i].Seconds() / float64(c.times)
		if ratio := c.over(i); ratio > out.Ratio {
			out.Best, out.Ratio = s.String(), ratio
		}
	}
	return out
}

// checkLevels returns an error that names the loops whose chosen setting is too slow.
func checkLevels(records []*record.Record) error {
	var slow []string
	for _, r := range records {
		if c := r.Settings; c != nil && c.Ratio > levelLimit {
			text := fmt.Sprintf("%s takes %.2f times as long at %s as at %s", strings.TrimPrefix(r.Case, "loop="), c.Ratio, c.Pick, c.Best)
			if !slices.Contains(slow, text) {
				slow = append(slow, text)
			}
		}
	}
	if slow == nil {
		return nil
	}
	hint := ""
	if simd.Measured() {
		hint = "; where it is a choice between gather=on and gather=off, remove privatemail/calibration-choices.json from your cache folder and run again with the machine at rest"
	}
	return fmt.Errorf("suite levels: what is chosen takes over %.2f times as long as the best: %s%s", levelLimit, strings.Join(slow, "; "), hint)
}

// LevelTableWords explains the columns of LevelTable.
const LevelTableWords = "Least nanoseconds for an element. Settings that run the same loop have one figure. " +
	"Chosen/best is how many times as long the chosen setting takes as another, by these least times or by the median of the rounds, whichever is less, " +
	"and best is the setting where that is most, or the chosen one where no setting is over 1. So a setting whose least time alone is shorter is not the best."

// LevelTable has a row for each loop of suite levels: nanoseconds for an element at every
// setting, and the chosen one over the best.
func LevelTable(all []record.Summary) (head []string, rows [][]string) {
	var settings []string
	for _, s := range all {
		if s.Settings == nil {
			continue
		}
		for name := range s.Settings.Seconds {
			if !slices.Contains(settings, name) {
				settings = append(settings, name)
			}
		}
	}
	slices.SortFunc(settings, bySetting)
	for _, s := range all {
		c := s.Settings
		if c == nil {
			continue
		}
		row := []string{strings.TrimPrefix(s.Case, "loop=")}
		for _, name := range settings {
			cell := ""
			if seconds, ok := c.Seconds[name]; ok {
				cell = fmt.Sprintf("%.3g", seconds*1e9/float64(s.NNZ))
			}
			row = append(row, cell)
		}
		rows = append(rows, append(row, c.Pick, c.Best, fmt.Sprintf("%.2f", c.Ratio)))
	}
	return slices.Concat([]string{"loop"}, settings, []string{"chosen", "best", "chosen/best"}), rows
}

// bySetting puts lower levels first, and of one level gather=off.
func bySetting(a, b string) int {
	order := func(name string) int {
		level, choices, _ := strings.Cut(name, ",")
		for l := simd.Generic; l <= simd.NEON; l++ {
			if l.String() == level {
				return 2*int(l) + map[bool]int{true: 1}[choices == "gather=on"]
			}
		}
		return -1
	}
	return order(a) - order(b)
}

// writeLevels prints the table of suite levels.
func writeLevels(w io.Writer, all []record.Summary) error {
	head, rows := LevelTable(all)
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(w, LevelTableWords)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, strings.Join(head, "\t")+"\t")
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t")+"\t")
	}
	return t.Flush()
}

// differentLoops returns one setting of each loop that the settings run, the chosen one
// first, and for every setting which of them runs the same loop. A loop that were timed
// twice would be slower than itself by chance.
func differentLoops(chosen *simd.Kernels, settings []*simd.Kernels, same func(a, b *simd.Kernels) bool) (different []*simd.Kernels, at []int) {
	different = []*simd.Kernels{chosen}
	for _, s := range settings {
		i := slices.IndexFunc(different, func(d *simd.Kernels) bool { return d == s || same(d, s) })
		if i < 0 {
			i = len(different)
			different = append(different, s)
		}
		at = append(at, i)
	}
	return different, at
}
