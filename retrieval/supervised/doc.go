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
// projections shrink the directions in which rows of one class differ ([NewMap] has the
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
// for maps and clusters. [Extend] places new rows in such a map.
//
// # The choice of a recipe
//
// What helps deep features harms other rows, and nobody should have to know which. Without
// Settings.Recipe, [Fit] holds labelled rows out, searches the others for them, and takes the
// recipe under which most find their class at the nearest row (R@1). Three rounds narrow the
// choice down: what happens to rows before and after the projection, and which projection it
// is; how strong the best projections are and how many columns they leave; steps. Rows as
// they are, and rows with columns of equal spread, always take part. A recipe has to beat the
// better of these two by two standard errors, and must not lose more than .005 of the R@8 of
// raw rows; otherwise the better of the two is taken.
//
// [Held] has the recalls of raw rows, of scaled rows and of the recipe. Up to 1000 labelled
// rows of up to 400 columns are held out in three parts, and for each part the whole choice is
// made again on the others. Of larger sets a fifth is held out once, up to 2000 rows. Recipes
// without steps are compared on up to 4000 of the others. Half of the rows held out choose the
// steps, searching up to 100,000 of the others: steps have to beat none by two standard errors
// and to keep the R@8 of raw rows to half of one. The other half measures. Of rows with more
// columns 1200 are held out at most, and 6000 are searched. So the rows on which a recipe is
// measured had no say in its choice; only where it finds less there than raw or scaled rows do,
// these are taken in its place.
//
// Rows of more than 400 columns try fewer recipes: projections are discriminants only, with
// unit images, and the number of columns is theirs.
//
// Labels of queries have no way in: neither [Map.Apply] nor [Extend] takes any.
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
