package main

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/internal/calibration"
	"github.com/seed-64e14a55/privatemail/internal/cli"
	"github.com/seed-64e14a55/privatemail/mechanism"
)

func main() {
	calibration.KeepChoices()
	program().ClusterMain()
}

func program() *cli.Program {
	return &cli.Program{
		Name:  "privatemail",
		About: "embeds labelled feature vectors so that near rows stay near and classes gather.",
		Hint:  "To see it work:    privatemail demo\nFlags of a verb:   privatemail VERB -h",
		Verbs: []cli.Verb{
			demoVerb(), evaluateVerb(), embedVerb(), fitVerb(), applyVerb(), showVerb(), searchVerb(), serveVerb(), splitVerb(), queryVerb(),
			graphVerb(), planVerb(), generateVerb(),
			sensitivityVerb(), privatizeVerb(), continueVerb(), budgetVerb(), cacheVerb(),
		},
		Words: words,
	}
}

// words returns what is printed of an error, without the names of packages. A word
// of the user's is the name of a file, whatever our packages are called.
func words(err error, args []string, interrupted bool) string {
	switch {
	case !interrupted:
		return plain(err.Error(), args...)
	case errors.Is(err, mechanism.ErrSpent):
		return "the budget is spent, and there is no release: interrupted"
	}
	return "interrupted"
}
