//go:build mutant_recorded_late

package mutant

// Name: a budget written down after the noise is drawn.
const Name = "recorded_late"
