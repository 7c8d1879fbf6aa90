package privatemail

import (
	"context"
	"fmt"

	"github.com/seed-64e14a55/privatemail/internal/mem"
	"github.com/seed-64e14a55/privatemail/internal/pipeline"
	"github.com/seed-64e14a55/privatemail/mechanism"
	"github.com/seed-64e14a55/privatemail/sensitivity"
)

// An Assessment is what a private first step would be worth and cost, known
// before any data is read.
type Assessment struct {
	// Tight is the bound Privatize calibrates to, with the error of the computed
	// step: that of rounding and, for the operator poly, of its polynomial.
	Tight sensitivity.Bound
	// Operator makes the step: dense, poly or background. Computed says how.
	Operator, Computed string
	// Corrected is the paper's constant with its errors repaired, nil where its
	// proof does not reach: it needs the exact kernel, alpha >= 0 and a table in
	// [0, 1]. It is for the relation null, whatever was asked for.
	Corrected *sensitivity.CorrectedBound
	// Paper is the published constant, nil where it is undefined. It is shown
	// for comparison; nothing calibrates to it.
	Paper *sensitivity.Comparison
	// PaperError says why Paper is nil.
	PaperError error
	// Calibration is the noise for Epsilon and Delta, nil without them.
	Calibration *mechanism.Calibration
	// Signal is a typical entry of the first step (sensitivity.Signal).
	Signal float64
}

// Sensitivity says what Privatize would do for n rows of d features: the bound,
// the noise and, beside them, what the paper's constants would have been. It
// needs no data; Ledger, Unit and LabelMode are not looked at, and without
// Epsilon and Delta there is no Calibration. RestPublic needs data and is
// refused.
func Sensitivity(ctx context.Context, n, d int, settings *PrivateSettings) (*Assessment, error) {
	out, err := assess(ctx, n, d, settings)
	if err != nil {
		return nil, fmt.Errorf("privatemail: sensitivity: %w", err)
	}
	return out, nil
}

func assess(ctx context.Context, n, d int, settings *PrivateSettings) (*Assessment, error) {
	s, err := settings.withDefaults()
	if err != nil {
		return nil, err
	}
	if s.RestPublic {
		return nil, fmt.Errorf("%w: the bound for one row among public ones needs these rows", ErrSettings)
	}
	if _, err := pipeline.Reserve(mem.Budget(), s.boundBytes(n), fmt.Sprintf("bound for %d x %d", n, s.Columns)); err != nil {
		return nil, err
	}
	p := private{settings: &s}
	if err := p.draw(ctx, n); err != nil {
		return nil, err
	}
	if p.bound, err = p.tight(); err != nil {
		return nil, err
	}
	out := new(Assessment)
	if s.Epsilon != 0 || s.Delta != 0 {
		if err := p.calibrate(d); err != nil {
			return nil, err
		}
		out.Calibration = &p.calibration
	} else if err := p.inflate(d); err != nil {
		return nil, err
	}
	out.Tight, out.Operator, out.Computed = p.bound, p.operator, p.computed()
	if c, err := sensitivity.Corrected(sensitivity.Null, p.query, p.q); err == nil {
		out.Corrected = &c
	}
	if c, err := sensitivity.Paper(p.query, p.q); err == nil {
		out.Paper = &c
	} else {
		out.PaperError = err
	}
	out.Signal, err = sensitivity.Signal(p.query, p.q)
	return out, err
}
