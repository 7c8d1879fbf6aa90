package kernel

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/kernel/internal/step"
)

// A Form is one of the two ways in which labels enter a step; the package comment has the
// formulas.
type Form int

// The forms of the step.
const (
	Paper   Form = Form(step.Paper)   // X + 1/2 Diag(L_X)^+ (alpha L_Y - L_X) X
	Attract Form = Form(step.Attract) // X - 1/2 Diag(L)^+ L X,  L = L_X/dbar + beta L_Y
)

func (f Form) String() string {
	switch f {
	case Paper:
		return "paper"
	case Attract:
		return "attract"
	}
	return fmt.Sprintf("Form(%d)", int(f))
}

// A Step says which step to take.
type Step struct {
	Form Form
	// Labels is L_Y, its rows in the operator's order; nil when the step has no labels.
	Labels *Labels
	// Coefficient is alpha in form Paper, of any sign, and beta >= 0 in form
	// Attract.
	Coefficient float64
}

// Check returns an error for a step that has no meaning for n rows.
func (s *Step) Check(n int) error {
	own := s.inner()
	return own.Check(n)
}

// inner returns the step as operators take it.
func (s *Step) inner() step.Step {
	return step.Step{Form: step.Form(s.Form), Labels: s.Labels.inner(), Coefficient: s.Coefficient}
}
