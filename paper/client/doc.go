// Package client is the half of Algorithm 1 that runs where the query is. It holds the private
// record; what leaves it is a paper.Question, and it does not know package paper/server.
//
// The query r is hidden among dummies, one public row of every class, in an order nobody else
// knows; both are joined by the whole public set, on whose rows the server will align. The first
// step of the iteration over all of them is released with noise:
//
//	{r and dummies, shuffled} u public rows ──> privatemail.Privatize64 ──> paper.Question
//	paper.Matches for every hidden row ──> those of r
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
// release.ModePublic is refused with [ErrLabelDisclosed].
//
// Places and seeds come from the operating system. When it has no randomness, nothing is asked.
package client
