package paper

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/kernel"
)

// Method holds the public numbers of Algorithm 1. Both sides need the same.
type Method struct {
	// Bandwidth of the Gaussian weights between features, and between the
	// points of an embedding.
	Bandwidth kernel.Bandwidth
	// Alpha is the coefficient of the label term, Table its weights:
	// "gaussian" with Bandwidth is the paper's.
	Alpha float64
	Table string
	// Dim is the dimension k of the embeddings, SigmaQ the standard
	// deviation of their random starts.
	Dim    int
	SigmaQ float64
	// Steps is the number T of steps: all those of the server, and those of
	// the client after the private one.
	Steps int
}

// DefaultMethod returns the paper's numbers: sigma 6 in its appendix's
// convention, alpha 0.6, k 2, sigma_q 1e-8, T 5. (For one of its data sets it
// takes sigma 5 and alpha 0.5.)
func DefaultMethod() Method {
	return Method{Bandwidth: kernel.Sigma(6), Alpha: 0.6, Table: "gaussian", Dim: 2, SigmaQ: 1e-8, Steps: 5}
}

// Check returns ErrMethod for what cannot be used, whatever the data.
func (m *Method) Check() error {
	if err := m.Bandwidth.Check(); err != nil {
		return fmt.Errorf("paper: %w: %w", ErrMethod, err)
	}
	if _, err := kernel.TableByName(m.Table, m.Bandwidth); err != nil {
		return fmt.Errorf("paper: %w: %w", ErrMethod, err)
	}
	if m.Dim < 1 || m.Steps < 1 {
		return fmt.Errorf("paper: %w: %d columns, %d steps", ErrMethod, m.Dim, m.Steps)
	}
	if !(m.SigmaQ >= 1e-30 && m.SigmaQ <= 1e30) {
		return fmt.Errorf("paper: %w: sigma_q %g, want a number from 1e-30 to 1e30", ErrMethod, m.SigmaQ)
	}
	if m.Alpha-m.Alpha != 0 {
		return fmt.Errorf("paper: %w: alpha is not finite", ErrMethod)
	}
	return nil
}
