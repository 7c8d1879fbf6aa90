package main

import (
	"errors"

	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/apply"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/budget"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/cache"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/continues"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/embed"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/evaluation"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/fit"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/generate"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/graph"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/privatize"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/query"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/search"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/sensitivity"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/serve"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/show"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/split"
	"github.com/seed-64e14a55/privatemail/cmd/privatemail/internal/text"
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
			evaluation.Demo(), evaluation.Evaluate(), embed.Verb(), fit.Verb(), apply.Verb(), show.Verb(), search.Verb(), serve.Verb(), query.Verb(), split.Verb(), serve.Front(),
			graph.Verb(), generate.Verb(),
			sensitivity.Verb(), privatize.Verb(), continues.Verb(), budget.Verb(), cache.Verb(),
		},
		Words: words,
	}
}

// words returns what is printed of an error, without the names of packages. A word
// of the user's is the name of a file, whatever our packages are called.
func words(err error, args []string, interrupted bool) string {
	switch {
	case !interrupted:
		return text.Plain(err.Error(), args...)
	case errors.Is(err, mechanism.ErrSpent):
		return "the budget is spent, and there is no release: interrupted"
	}
	return "interrupted"
}
