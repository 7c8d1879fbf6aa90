package privatemail

import (
	"errors"
	"math"
	"testing"

	"github.com/seed-64e14a55/privatemail/mechanism"
)

// Confirm gets the noise and the signal of the release before the ledger is asked and,
// without RestPublic, before a row is read. Its error ends the call, and nothing is spent.
func TestConfirm(t *testing.T) {
	const n, d = 60, 4
	x, y := classes(t, n, d)
	e, err := New(WithWorkers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, rest := range []bool{false, true} {
		s, ledger := paid(t)
		s.NormalizeRows = true
		if rest {
			s.PrivateRows, s.RestPublic = []int{4}, true
		} else {
			x.Data[0] = float32(math.NaN()) // it is not read
		}
		no := errors.New("no")
		var said mechanism.Calibration
		var signal float64
		s.Confirm = func(noise mechanism.Calibration, typical float64) error {
			said, signal = noise, typical
			return no
		}
		if _, err := e.Privatize(t.Context(), x, y, s); !errors.Is(err, no) {
			t.Fatal(err)
		}
		if _, err := ledger.Balance(s.Unit); !errors.Is(err, mechanism.ErrUnknownUnit) {
			t.Errorf("something is spent: %v", err)
		}
		if !rest {
			x.Data[0] = 1
		}
		s.Confirm = func(noise mechanism.Calibration, typical float64) error {
			if noise.Sigma() != said.Sigma() || typical != signal || !(signal > 0) {
				t.Errorf("noise %g and signal %g, then %g and %g", said.Sigma(), signal, noise.Sigma(), typical)
			}
			return nil
		}
		r, err := e.Privatize(t.Context(), x, y, s)
		if err != nil {
			t.Fatal(err)
		}
		if r.Privacy.Sigma != said.Sigma() {
			t.Errorf("the release has noise %g, Confirm got %g", r.Privacy.Sigma, said.Sigma())
		}
		if rest {
			continue
		}
		a, err := Sensitivity(t.Context(), n, d, s)
		if err != nil {
			t.Fatal(err)
		}
		if a.Calibration.Sigma() != said.Sigma() || a.Signal != signal {
			t.Errorf("Sensitivity says %g and %g, Confirm got %g and %g", a.Calibration.Sigma(), a.Signal, said.Sigma(), signal)
		}
	}
}
