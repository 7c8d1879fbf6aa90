// Package paper is Algorithm 1 of the paper with a guarantee that holds. Package paper/client
// asks, package paper/server answers, and this package holds what both need: the public set,
// the numbers of the method, the messages and the alignment.
//
//	public, err := paper.NewPublic(features, labels, classes)     // known to both sides
//	s, err := server.New(ctx, engine, rows, public, method, 8, seed)
//	c, err := client.New(engine, public, method, client.Settings{Epsilon: 1, ...})
//	question, err := c.Ask(ctx, record, unit)                      // at the client
//	matches, err := s.Answer(ctx, question.Message())              // at the server
//	found, err := question.Read(matches)                           // at the client
//
// The query is hidden among dummies and joined by the [Public] rows. The first step of the
// iteration over all of them is released with noise (privatemail.Engine.Privatize64). The server
// takes the release further, aligns it with its own embedding on the public rows ([Align]) and
// answers for every hidden row. [Method] has the numbers that both sides use.
//
// paper/client and paper/server do not import each other. A [Question] and [Matches] are all that
// one tells the other, so no call can pass a client's features or label to the server's code.
//
// # What it is worth
//
// It is here because it was published, and it retrieves nothing. Where the label is protected,
// recall was at chance at every epsilon tried, 1 to 8 (docs/paper.md). With the label term of the
// text even the iteration without noise is at chance. For private queries that work see package
// retrieval, whose Ceiling says what recall a private release can reach at most.
//
// The text and the authors' program as they were published, which protect nothing, are in package
// internal/evaluate/published, and the baselines of the paper in internal/evaluate/baseline:
// "privatemail evaluate" measures both.
//
// # Concurrency
//
// All functions may be called concurrently; they only read their arguments. The same input gives
// the same bits for any number of workers, apart from the noise.
//
// # References
//
// Kabsch, "A solution for the best rotation to relate two sets of vectors"
// (1976); Umeyama, "Least-squares estimation of transformation parameters
// between two point patterns" (1991).
package paper
