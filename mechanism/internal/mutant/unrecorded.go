//go:build mutant_unrecorded

package mutant

// Name: a budget that is never written down.
const Name = "unrecorded"
