package privatemail

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/seed-64e14a55/privatemail/internal/digest"
	"github.com/seed-64e14a55/privatemail/internal/sections"
	"github.com/seed-64e14a55/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
	"github.com/seed-64e14a55/privatemail/par"
)

// ErrCheckpoint reports a checkpoint that belongs to another run.
var ErrCheckpoint = errors.New("a checkpoint of another run")

// A Checkpoint is a run of Embed after some of its steps. Settings.Resume continues from it,
// to the same bits, with any number of workers and ranks. Save keeps one in a file:
//
//	s.Checkpoint = func(c *privatemail.Checkpoint) error { return c.Save(ctx, path) }
//	embedding, err := engine.Embed(ctx, features, labels, s)
//
// and later
//
//	s.Resume, err = privatemail.OpenCheckpoint(ctx, path)
//	embedding, err := engine.Embed(ctx, features, labels, s)
//	s.Resume.Close()
//
// A checkpoint is as private as the features: it contains an embedding of them, moved by their
// labels, and anyone who has it can confirm a guess of the features and labels.
type Checkpoint struct {
	// Run has everything that decides the result of the run, by name: the settings, and the
	// SHA-256 of features, labels, start and graph. The number of steps and the tolerance are
	// not part of it: a run may continue for longer than planned.
	Run map[string]string
	// State is the state of the steps.
	State iterate.State

	file *sections.File // that the iterate is a view of; nil for others
}

// resumeOperator makes a resumed run take the operator that it began with, which another
// machine, memory limit or number of steps might not choose.
func (s *Settings) resumeOperator() {
	if s.Resume != nil && s.Operator == "" && slices.Contains(kernel.OperatorNames(), s.Resume.Run["operator"]) {
		s.Operator = s.Resume.Run["operator"]
	}
}

// identify notes in the settings everything that decides the result of a run, except
// its graph, and refuses a checkpoint of another run. It does nothing without
// checkpoints.
func (s *Settings) identify(ctx context.Context, workers *par.Workers, features blas32.General, labels *kernel.Labels) error {
	if s.Checkpoint == nil && s.Resume == nil {
		return nil
	}
	hash, err := hashRows(ctx, workers, features)
	if err != nil {
		return err
	}
	s.identity = map[string]string{
		"features":        fmt.Sprintf("%d x %d, SHA-256 %s", features.Rows, features.Cols, hash),
		"standardize":     strconv.FormatBool(s.Standardize),
		"normalize-rows":  strconv.FormatBool(s.NormalizeRows),
		"gamma":           number(s.Bandwidth.Gamma()),
		"mean-neighbours": number(s.MeanNeighbours),
		"neighbours":      strconv.Itoa(s.Neighbours),
		"cutoff-weight":   number(s.CutoffWeight),
		"cutoff-radius":   number(s.CutoffRadius),
		"tolerance":       number(s.Tolerance),
		"isolated":        s.Isolated.String(),
		"form":            s.Form.String(),
		"coefficient":     number(s.Coefficient),
		"normalize":       s.Normalize.String(),
		"columns":         strconv.Itoa(s.Dim),
		"architecture":    architecture(),
		"labels":          "none",
		"start":           "features",
	}
	if labels != nil {
		sum := labels.Hash()
		s.identity["labels"] = "table " + s.Table.Name() + ", SHA-256 " + hex.EncodeToString(sum[:])
	}
	switch {
	case s.Start.Data != nil:
		if hash, err = hashRows(ctx, workers, s.Start); err != nil {
			return err
		}
		s.identity["start"] = "SHA-256 " + hash
	case s.Form != kernel.Attract:
		s.identity["start"] = fmt.Sprintf("random, seed %d, sigma_q %s", s.Seed, number(s.SigmaQ))
	}
	return s.sameRun()
}

// identifyGraph adds the graph, and refuses a checkpoint of a run over another graph.
func (s *Settings) identifyGraph(op kernel.Operator, level string) error {
	if s.identity == nil {
		return nil
	}
	d := digest.New()
	for _, row := range op.Order() {
		d.Put32(row)
	}
	for _, degree := range op.Degrees() {
		d.PutFloat(degree)
	}
	sum := d.Sum()
	s.identity["operator"] = op.Name()
	s.identity["graph"] = "SHA-256 " + hex.EncodeToString(sum[:])
	s.identity["level"] = "any"
	if op.Name() == "poly" { // only its sums depend on the level
		s.identity["level"] = level
	}
	return s.sameRun()
}

// sameRun compares this run, as far as it is known, with the checkpoint to resume. The error
// has only names, and only those of this run: a checkpoint may come from anywhere.
func (s *Settings) sameRun() error {
	if s.Resume == nil {
		return nil
	}
	var other []string
	for name, value := range s.identity {
		if s.Resume.Run[name] != value {
			other = append(other, name)
		}
	}
	if len(other) == 0 {
		return nil
	}
	slices.Sort(other)
	return fmt.Errorf("%w: other %s", ErrCheckpoint, strings.Join(other, ", "))
}

// addCheckpoints adds the settings of checkpoints to those of the loop.
func (s *Settings) addCheckpoints(run *iterate.Settings) {
	run.Every = s.CheckpointEvery
	if s.Checkpoint != nil {
		run.Checkpoint = func(state *iterate.State) error { return s.Checkpoint(&Checkpoint{Run: s.identity, State: *state}) }
	}
	if s.Resume != nil {
		run.From = &s.Resume.State
	}
}

// architecture names what decides the rounding of sums: the processor, and whether the compiler
// fuses a product and a sum, as for GOAMD64=v3.
func architecture() string {
	const small = 1.0 / (1 << 30)
	if productAndSum(1+small, 1-small, -1) != 0 {
		return runtime.GOARCH + ", rounding once"
	}
	return runtime.GOARCH
}

// productAndSum is 0 for the arguments above where the product is rounded separately. The
// compiler must not see the arguments: it would compute the result itself, with a different
// rounding.
//
//go:noinline
func productAndSum(x, y, z float64) float64 { return x*y + z }

// number is v with all its digits.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// hashedRows is the approximate number of entries that a worker hashes at a
// time.
const hashedRows = 1 << 18

// hashRows returns the SHA-256 of the hashes of successive rows, the same for any number of
// workers.
func hashRows(ctx context.Context, workers *par.Workers, x blas32.General) (string, error) {
	size := max(1, hashedRows/x.Cols)
	sums := make([][digest.Size]byte, split.Blocks(x.Rows, size))
	err := workers.Do(ctx, len(sums), par.Func(func(_, piece int) {
		d := digest.New()
		lo, hi := split.Block(piece, x.Rows, size)
		for i := lo; i < hi; i++ {
			for _, v := range x.Data[i*x.Stride:][:x.Cols] {
				d.Put32(math.Float32bits(v))
			}
		}
		sums[piece] = d.Sum()
	}))
	if err != nil {
		return "", err
	}
	all := digest.New()
	for _, sum := range sums {
		for _, b := range sum {
			all.Put32(uint32(b))
		}
	}
	sum := all.Sum()
	return hex.EncodeToString(sum[:]), nil
}
