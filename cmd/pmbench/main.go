package main

import (
	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/cli"
)

func main() {
	calibration.KeepChoices()
	program().ClusterMain()
}

func program() *cli.Program {
	return &cli.Program{
		Name:  "pmbench",
		About: "measures the engine, against the limits of the machine and against others.",
		Hint:  "A first figure:    pmbench run -suite spmm\nFlags of a verb:   pmbench VERB -h",
		Verbs: []cli.Verb{runVerb(), compareVerb(), abVerb(), rooflineVerb(), peersVerb(), ranksVerb(), modelVerb(), loadVerb(), reportVerb()},

		Results: true,
	}
}
