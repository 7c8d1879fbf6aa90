package report

import (
	"fmt"

	"github.com/seed-64e14a55/privatemail/iterate"
	"github.com/seed-64e14a55/privatemail/kernel"
)

// StepsOf says how many steps an embedding took, in which form, and whether it ended
// before it had taken all.
func StepsOf(form kernel.Form, m *iterate.Embedding) string {
	return fmt.Sprintf("%d in form %v%s", m.Trace[len(m.Trace)-1].Step, form, EarlyEnd(m))
}

// EarlyEnd says that -stop ended the steps, if it did.
func EarlyEnd(m *iterate.Embedding) string {
	if m.Status == iterate.Converged {
		return ", the last of which changed no more than -stop allows"
	}
	return ""
}

// ObjectiveOf says how the steps have changed the objective.
func ObjectiveOf(trace []iterate.Record) string {
	first, last := trace[0], trace[len(trace)-1]
	words := fmt.Sprintf("%.6g before the first step", first.Objective)
	if last.Step > 1 {
		words += fmt.Sprintf(", %.6g before the last", last.Objective)
	}
	return words + fmt.Sprintf("; the last step changed the rows by %.3g of their spread", last.Change)
}
