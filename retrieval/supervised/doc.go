// Package supervised makes labelled rows searchable: a map for everybody, and a gallery
// that its labels may have drawn together a little.
//
//	model, err := supervised.Fit(ctx, engine, gallery, labels, nil) // at the server
//	z, err := model.Map.Apply(queries)                              // at the client
//
// The server has rows with labels, some of them perhaps without. What becomes of a row is
// its [Recipe]: roots of its values, division by its norm, columns of equal spread, a linear
// projection, and division by the norm once more. That is the [Map]. It is published; a query
// is placed by it alone, without a label and without anything being asked of the server. A client
// that got the map from a server, and sends it something afterwards, applies it by [Guard]: then
// the time that this takes tells nothing about a query, as far as Go goes ([Guarded]). The
// projections shrink the directions in which rows of one class differ ([Recipe.NewMap] has the
// formulas). Then the gallery may be moved: from X = z a step or two of
//
//	X <- X - 1/2 D^+ L X,   L = L_X/dbar + beta L_same,
//
// over the graph of the nearest z and the graph of equal labels, the form
// kernel.Attract. The nearest rows of X are the answer to a query's z. No step
// increases tr X'L X.
//
// The iteration is stopped early on purpose. One step draws a row towards its
// class and leaves it near its neighbours; more steps, or a larger beta, make
// the lists purer (P@8) and in the end worse (R@8), as all rows of a class become
// one point. privatemail.Engine.Converge goes all the way: its eigenvectors are
// for maps and clusters. Engine.Extend of package privatemail places new rows in such a map.
//
// # The choice of a recipe
//
// What helps deep features harms other rows, and nobody should have to know which. Without
// Settings.Recipe, [Fit] compares recipes on labelled rows: rows are divided into parts, and
// each part is looked for among the others, by a map that was made without it. The recipe is
// taken by one [Goal], the share of rows whose nearest row has their label (R@1) unless
// Settings say otherwise. Differences are those of the same rows, with their standard error:
// of the recipes that the best one does not beat by one standard error, the one with the purest
// lists (P@8) is taken. Rows as they are and rows with columns of equal spread take part under
// the same rule as all others.
//
// Three rounds find the recipes to compare: what happens to rows before and after the
// projection, and which projection it is; how strong the best projections are, as far as
// stronger or weaker ones find no less, and how many columns they leave; a step. A step has to
// beat the recipe without it by one standard error of the goal, as it makes lists pure by
// drawing classes together, whether or not these lists find more. A recipe that is three
// standard errors behind another one leaves early.
//
// As many rows take part as a few seconds allow, by their number and their columns alone. Up to
// 20,000 rows are divided into ten parts, and 1000 to 5000 rows are held out in all; few rows are
// held out three times, by other divisions. Of rows in many columns fewer take part or are held
// out: 4882 of 11,788 rows of 1,280 columns, with 1221 of them held out once. Rows of more than
// 400 columns try fewer recipes. Where there are fewer rows than columns, all of this happens
// in the span of the rows.
//
// [Held] has what raw rows, scaled rows and the best recipes found. All rows held out took part
// in that choice, so Held.Chosen is measured apart: the choice is repeated on nine tenths of the
// rows held out, and what it takes is measured on the last tenth, for each tenth in turn. Which
// recipes take part in the later rounds is not repeated, and rows of all tenths find each other:
// of few rows Held.Chosen is still a little too good, far less so than the best of Held.Best.
//
// A discriminant depends on the units of columns, as its ridge is the same for all of them:
// recipes with Standardize or Weigh do not.
//
// Labels of queries have no way in: neither [Map.Apply] nor Engine.Extend takes any.
//
// # Classes
//
// A [Model] keeps the labels of its rows. [Model.Voter] tells the classes of images by the labelled rows
// that are nearest to them, and [Vote] counts the votes of rows that were found elsewhere.
//
// # Models on disk
//
// [Model.Save] keeps a model in one file with checksums, and [Open] opens it and compares all of
// them. [OpenMap] reads the map alone. A map that was saved places rows bit for bit where it did
// before. [Map.Stream] places rows that come block by block, however many there are.
//
// # Concurrency
//
// All functions may be called concurrently; they only read their arguments. The
// same input gives the same bits for any number of workers.
package supervised
