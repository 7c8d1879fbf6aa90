package main

import (
	"testing"

	"github.com/seed-64e14a55/privatemail/internal/cli/clitest"
)

func TestChoicesOfAnEarlierProcess(t *testing.T) {
	clitest.EarlierChoices(t, asCommand+"="+withCache)
}
