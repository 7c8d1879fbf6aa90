// Package paper is Algorithm 1 of the paper with a guarantee that holds. A [Client] runs where the
// query is and holds the private record, a [Server] where the gallery is.
//
//	public, err := paper.NewPublic(features, labels, classes)      // known to both sides
//	s, err := paper.NewServer(ctx, engine, rows, public, method, 8, seed)
//	c, err := paper.NewClient(engine, public, method, paper.ClientSettings{Epsilon: 1, ...})
//	question, read, err := c.Ask(ctx, record, unit)                // at the client
//	matches, err := s.Answer(ctx, question)                        // at the server
//	found, err := read(matches)                                    // at the client
//
// A [Question] and [Matches] are all that one side tells the other: no function of a Server takes
// a [Record], or anything else of a Client. [Public] and [Method] are known to both.
//
// # The client
//
// The query r is hidden among dummies, one public row of every class, in an order nobody else
// knows; both are joined by the whole public set, on whose rows the server will align. The first
// step of the iteration over all of them is released with noise:
//
//	{r and dummies, shuffled} u public rows ──> privatemail.Privatize64 ──> Question
//	Matches for every hidden row ──> those of r
//
// The guarantee is that of the release, for r as one row that may stand at any
// hidden place: sensitivity.Query.Tight over these places. Dummies add nothing to it.
// They are cover of the kind "one among the classes", drawn from rows the server
// has too, so that the row that matches none of them stands out once noise is
// small, and questions with fresh dummies can be intersected. They are drawn
// without a look at r: "one of every class but mine" would disclose the class.
//
// Under a relation that protects the label nothing after the release may read
// it. The labels of the hidden rows are therefore dropped or randomised, and
// release.ModePublic is refused.
//
// Places and seeds come from the operating system. When it has no randomness, nothing is asked.
//
// # The server
//
//	gallery u public rows, labels ──> T steps without noise ──> embedding       (once)
//	Question ──> T steps over the released points ──> embedding of the client
//	the two are aligned on the public rows they share
//	the K gallery rows nearest to every hidden row ──> Matches
//
// The server is not told which hidden row is the query and answers for all. How well it
// can guess is bounded by the release, not by the dummies.
//
// # What it is worth
//
// It is here because it was published, and it retrieves nothing. Where the label is protected,
// recall was at chance at every epsilon tried, 1 to 8 (docs/paper.md). With the label term of the
// text even the iteration without noise is at chance. mechanism.Ceiling says what recall a private
// release can reach at most. For private queries that work see package retrieval.
//
// The text and the authors' program as they were published, which protect nothing, are in package
// internal/evaluate/published, and the baselines of the paper in internal/evaluate/baseline:
// "privatemail evaluate" measures both.
//
// # Concurrency
//
// All functions may be called concurrently; they only read their arguments. The same input gives
// the same bits for any number of workers, apart from the noise.
package paper
