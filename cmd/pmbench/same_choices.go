package main

import (
	"os"

	"github.com/seed-64e14a55/privatemail/simd"
)

// sameChoices returns an environment with which processes that are compared make the choices
// between loops that this process has measured. Where PM_SIMD asks for choices they stay, and
// where there is nothing to choose nothing is asked for.
func sameChoices(environment []string) []string {
	if !simd.Measured() {
		return environment
	}
	return append(environment, "PM_SIMD="+withChoices(os.Getenv("PM_SIMD"), simd.At(simd.Best()).Choices()))
}

// withChoices adds choices to a value of PM_SIMD.
func withChoices(value, choices string) string {
	if value == "" {
		return choices
	}
	return value + "," + choices
}
